"""Search over a memory and its journal: what is searched is brought up to date, then asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reflector.core.cleaning import clean
from reflector.core.errors import GitError, NotFoundError
from reflector.core.matching import excerpt, why
from reflector.core.tokens import asked
from reflector.memory.indexed import Indexed, indexed
from reflector.runtime.banks import bank_of
from reflector.runtime.wiring import Context
from reflector.store import journal as journals
from reflector.store import recall as files
from reflector.store import recall_journal, recall_memory
from reflector.store.recall import Connection, Index, UnusableError, understood, writing
from reflector.store.recall_journal import Asked, Said
from reflector.store.recall_memory import Hit, Only
from reflector.store.state import State
from reflector.vcs.port import MAIN
from reflector.vcs.tip import main_commit

if TYPE_CHECKING:
    from reflector.memory.tree import Tree
    from reflector.vcs.reads import Reads

LIMIT = 10

_LONGEST_QUERY = 20_000
_MOST_COMMITS = 500
_TOLD_EVERY = 1000
_Got = TypeVar("_Got")

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """One result. A document has a `path`, an entry its `conversation`, `entry` and `kind`.

    `updated_at` is when main last changed the document, or when the entry was said.
    """

    score: float
    excerpt: str
    updated_at: str
    why: str
    path: str = ""
    about: str = ""
    conversation: str = ""
    entry: str = ""
    kind: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the machine form."""
        if self.path:
            where = {"path": self.path}
        else:
            where = {"conversation": self.conversation, "entry": self.entry, "kind": self.kind}
        told: dict[str, object] = {"score": round(self.score, 4), "excerpt": self.excerpt}
        return {**where, **told, "updated_at": self.updated_at, "why": self.why}


@dataclass(frozen=True, slots=True)
class _Source:
    """What is searched: its index, whether that is up to date, and how it is brought there."""

    index: Index
    current: Callable[[Connection], bool]
    update: Callable[[Connection], None]
    fill: Callable[[Connection], None]


def recall(
    context: Context,
    query: str,
    *,
    cwd: Path | None = None,
    limit: int = LIMIT,
    path: str = "",
    since: str = "",
    outside: str = "",
    told: Told = lambda _: None,
) -> list[Found]:
    """Return the documents of main that answer a query best; none when nothing does.

    Items that are bound to a project are found from its folders only: `cwd` says where we are.
    `path` and `outside` are beginnings of paths, `since` an instant as `stamp` writes it. `told`
    hears what takes long.
    """
    context.require()
    wanted = asked(query[:_LONGEST_QUERY])
    only = Only(path, bank_of(cwd), since, outside)
    source = _memory(context, told)

    def find(index: Connection) -> list[Found]:
        chosen = recall_memory.telling(index, wanted)
        hits = recall_memory.find(index, chosen, only, limit)
        return [_document(hit, chosen) for hit in hits]

    return _ask(context, source, find)


def search(
    context: Context,
    query: str,
    *,
    conversation: str = "",
    kind: str = "",
    since: str = "",
    limit: int = LIMIT,
    told: Told = lambda _: None,
) -> list[Found]:
    """Return the journal's entries that answer a query best; none when nothing does.

    What was hidden, aged out or forgotten is never found. `kind` is an entry's kind. Raises
    NotFoundError for a conversation that is not in the journal.
    """
    wanted = dict(islice(asked(query[:_LONGEST_QUERY]).items(), recall_journal.MOST_TERMS))
    only = Asked(conversation, kind, since)
    with context.state() as state:
        journal = state.connection
        if conversation and journals.conversation(journal, conversation) is None:
            raise NotFoundError(
                f"There is no conversation {conversation} in the journal.",
                hint="`reflector search QUERY` without --conversation names those with a hit.",
            )
        hits = _ask(
            context,
            _journal(context, state, told),
            lambda index: recall_journal.find(index, journal, wanted, only, limit),
        )
    return [_entry(hit, wanted) for hit in hits]


def _document(hit: Hit, wanted: dict[str, str]) -> Found:
    fields = {
        "path": hit.path.removesuffix(".md"),
        "description": hit.about,
        "heading": hit.passage.heading,
        "text": hit.passage.text,
    }
    about = clean(hit.about.partition("\n")[0])
    shown = excerpt(hit.passage.text, wanted) or excerpt(hit.about, wanted)
    told = clean(why(fields, wanted))
    return Found(hit.score, shown, hit.at, told, path=hit.path, about=about)


def _entry(hit: Said, wanted: dict[str, str]) -> Found:
    name = "tool" if hit.kind == "tool_call" else hit.kind
    return Found(
        hit.score,
        excerpt(hit.text, wanted),
        hit.at,
        clean(why({name: hit.text}, wanted)),
        conversation=hit.conversation,
        entry=hit.entry,
        kind=hit.kind,
    )


def _ask(context: Context, source: _Source, find: Callable[[Connection], _Got]) -> _Got:
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


def _asked_once(context: Context, source: _Source, find: Callable[[Connection], _Got]) -> _Got:
    with understood(source.index.path):
        if (connection := source.index.open()) is not None:
            with closing(connection):
                if source.current(connection):
                    return find(connection)
        with closing(_brought_up(context, source)) as connection:
            return find(connection)


def _brought_up(context: Context, source: _Source) -> Connection:
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


def _memory(context: Context, told: Told) -> _Source:
    repo = context.agent.repo

    def current(index: Connection) -> bool:
        return recall_memory.revision(index) == main_commit(repo)

    def update(index: Connection) -> None:
        with _reads(context) as reads:
            _update(index, reads, _tip(reads))

    def fill(index: Connection) -> None:
        with _reads(context) as reads:
            _fill(index, reads, _tip(reads), told)

    return _Source(Index(context.agent, files.MEMORY, recall_memory.TABLES), current, update, fill)


def _journal(context: Context, state: State, told: Told) -> _Source:
    journal = state.connection
    found = context.agent.state.stat()
    source = f"{found.st_dev}.{found.st_ino}"

    def current(index: Connection) -> bool:
        return not recall_journal.behind(index, journal, source)

    def update(index: Connection) -> None:
        recall_journal.catch_up(index, journal, source)

    def fill(index: Connection) -> None:
        told("reading the journal for the first search")
        recall_journal.catch_up(index, journal, source)

    return _Source(
        Index(context.agent, files.JOURNAL, recall_journal.TABLES), current, update, fill
    )


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
