"""What is searched: the index of a memory and of a journal, brought up to date by whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from reflector.core.errors import GitError
from reflector.memory.indexed import Indexed, indexed
from reflector.runtime.wiring import Context
from reflector.store import recall as files
from reflector.store import recall_journal, recall_memory
from reflector.store.recall import Connection, Index, UnusableError, understood, writing
from reflector.store.state import State
from reflector.vcs.port import MAIN
from reflector.vcs.tip import main_commit

if TYPE_CHECKING:
    from reflector.memory.tree import Tree
    from reflector.vcs.reads import Reads

_MOST_COMMITS = 500
_TOLD_EVERY = 1000
_Got = TypeVar("_Got")

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Source:
    """What is searched: its index, whether that is up to date, and how it is brought there."""

    index: Index
    current: Callable[[Connection], bool]
    update: Callable[[Connection], None]
    fill: Callable[[Connection], None]


def ask(context: Context, source: Source, find: Callable[[Connection], _Got]) -> _Got:
    """Ask an index that is up to date. A damaged one is made anew, once, without a word."""
    try:
        return _asked_once(context, source, find)
    except UnusableError:
        with source.index.alone(context.ambient.clock):
            source.index.remove()
    try:
        return _asked_once(context, source, find)
    except UnusableError as error:
        raise files.unusable(source.index.path, str(error)) from error


def _asked_once(context: Context, source: Source, find: Callable[[Connection], _Got]) -> _Got:
    with understood(source.index.path):
        if (connection := source.index.open()) is not None:
            with closing(connection):
                if source.current(connection):
                    return find(connection)
        with closing(_brought_up(context, source)) as connection:
            return find(connection)


def _brought_up(context: Context, source: Source) -> Connection:
    with source.index.alone(context.ambient.clock):
        # Look again: another process may have done it while this one waited.
        connection = source.index.open()
        if connection is None:
            return source.index.make(source.fill)
        try:
            if not source.current(connection):
                with writing(connection):
                    source.update(connection)
        except UnusableError:
            connection.close()
            return source.index.make(source.fill)
        except BaseException:
            connection.close()
            raise
        return connection


def memory(context: Context, told: Told) -> Source:
    """Return the documents of main; `told` hears what takes long."""
    repo = context.agent.repo

    def current(index: Connection) -> bool:
        return recall_memory.revision(index) == main_commit(repo)

    def update(index: Connection) -> None:
        with _reads(context) as reads:
            _update(index, reads, _tip(reads))

    def fill(index: Connection) -> None:
        with _reads(context) as reads:
            _fill(index, reads, _tip(reads), told)

    return Source(Index(context.agent, files.MEMORY, recall_memory.TABLES), current, update, fill)


def journal(context: Context, state: State, told: Told) -> Source:
    """Return the entries of the journal; `told` hears what takes long."""
    entries = state.connection
    found = context.agent.state.stat()
    source = f"{found.st_dev}.{found.st_ino}"

    def current(index: Connection) -> bool:
        return not recall_journal.behind(index, entries, source)

    def update(index: Connection) -> None:
        recall_journal.catch_up(index, entries, source)

    def fill(index: Connection) -> None:
        told("reading the journal for the first search")
        recall_journal.catch_up(index, entries, source)

    return Source(Index(context.agent, files.JOURNAL, recall_journal.TABLES), current, update, fill)


def _reads(context: Context) -> Reads:
    from reflector.vcs.reads import Reads  # noqa: PLC0415 - costs more than a search does

    return Reads(context.agent.repo)


def _tip(reads: Reads) -> str:
    if (commit := reads.resolve(MAIN)) is None:
        raise GitError(f"The memory {reads.path} has no commit on main.")
    return commit


def _fill(index: Connection, reads: Reads, tip: str, told: Told) -> None:
    moments, oldest, _ = _moments(reads, tip, "")
    tree = reads.tree(tip)

    def documents() -> Iterator[tuple[Indexed, str]]:
        for number, leaf in enumerate(tree.leaves()):
            if number and number % _TOLD_EVERY == 0:
                told(f"reading the memory for the first search: {number} files")
            if found := _indexed(tree, leaf.path, leaf.oid if leaf.regular else ""):
                yield found, moments.get(leaf.path, oldest)

    recall_memory.put(index, documents())
    recall_memory.set_revision(index, tip)


def _update(index: Connection, reads: Reads, tip: str) -> None:
    known = recall_memory.revision(index)
    moments, _, complete = _moments(reads, tip, known)
    if not complete:
        raise UnusableError("it is of another history")
    tree = reads.tree(tip)
    recall_memory.take_out(index, moments)
    for path, at in moments.items():
        leaf = tree.find(path)
        if leaf and (found := _indexed(tree, path, leaf.oid if leaf.regular else "")):
            recall_memory.put(index, [(found, at)])
    recall_memory.set_revision(index, tip)


def _indexed(tree: Tree, path: str, oid: str) -> Indexed | None:
    return indexed(path, tree.reader.content(oid)) if oid else None


def _moments(reads: Reads, tip: str, known: str) -> tuple[dict[str, str], str, bool]:
    """Return when main last changed each path since a commit, and the oldest time looked at.

    Only so many commits are looked at: what is older counts as old as the last of them. The third
    tells whether the known commit was reached.
    """
    found: dict[str, str] = {}
    commit = reads.commit(tip)
    for _ in range(_MOST_COMMITS):
        if commit.sha == known:
            return found, commit.at, True
        if not commit.parents:
            break
        for path in reads.changed(commit.parents[0], commit.sha):
            found.setdefault(path, commit.at)
        commit = reads.commit(commit.parents[0])
    return found, commit.at, False
