"""A whole bank changed by a person: cleared, or merged into another on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reflector.core.decision import FILES
from reflector.core.errors import DocumentError, NotFoundError, UsageError
from reflector.memory.tree import Tree
from reflector.pipelines.decisions import bullets
from reflector.pipelines.decisions.bullets import BankFiles, path_of, read_bank
from reflector.pipelines.decisions.edits import SECTION, excess
from reflector.pipelines.decisions.twins import Twins
from reflector.runtime.decisions.bank import banks, held
from reflector.runtime.wiring import Context
from reflector.runtime.writing import NoChangeError, write
from reflector.store import decisions


@dataclass(frozen=True, slots=True)
class Done:
    """The commit ("" when only the ledger changed), its paths, and how many deltas waited."""

    commit: str
    paths: tuple[str, ...]
    waited: int = 0


def clear(context: Context, bank: str) -> Done:
    """Remove a bank's files by one commit. What waits will not bring them back.

    Where the memory holds none of them, what waits is ended all the same: a kill between the two
    leaves just that. Raises NoChangeError when there is nothing.
    """

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        return dict.fromkeys(_files(tree, bank))

    try:
        written = write(context, change, f"clear the decisions of {bank}")
        done = Done(written.commit, written.paths)
    except NoChangeError:
        counted = _counts(context, bank)
        if not (counted.waiting or counted.queued):
            raise
        done = Done("", ())
    by = done.commit or held(context, bank).revision
    with context.state() as state, state.transaction() as connection:
        waited = decisions.clear(connection, bank, by, context.ambient.now())
    return replace(done, waited=waited)


def _counts(context: Context, bank: str) -> decisions.Counts:
    with context.state() as state:
        return decisions.counts(state.connection, bank)


def move(context: Context, bank: str, to: str) -> Done:
    """Merge a bank into another: bullets that are there already are not doubled.

    Raises NotFoundError, UsageError, DocumentError when a file would become too long.
    """
    if bank == to:
        raise UsageError("A bank is not moved into itself.", hint="Name two banks.")
    if bank not in {each.name for each in banks(context)}:
        raise NotFoundError(
            f"There is no bank {bank}.", hint="`reflector decisions banks` lists them."
        )

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        after = _merged(read_bank(bank, tree.read), read_bank(to, tree.read))
        gone: dict[str, bytes | None] = dict.fromkeys(_files(tree, bank))
        return gone | bullets.written(to, tree.read, after)

    try:
        done = write(context, change, f"move the decisions of {bank} to {to}")
        found = Done(done.commit, done.paths)
    except NoChangeError:  # the memory holds none of its files, the ledger its words
        found = Done("", ())
    with context.state() as state, state.transaction() as connection:
        decisions.move(connection, bank, to)
    return found


def _files(tree: Tree, bank: str) -> list[str]:
    return [path for file in FILES if tree.holds(path := path_of(bank, file))]


def _merged(one: BankFiles, into: BankFiles) -> BankFiles:
    known = Twins(enumerate(each.text for each in into.bullets))
    for each in one.bullets:
        if not known.of(each.text):
            body = into.body(each.file)
            section = each.section or SECTION
            into = into.with_body(each.file, bullets.added(each.file, body, section, each.text))
    for file in FILES:
        for fault in excess(file, into.body(file)):
            raise DocumentError(
                f"The banks were not merged: {file}: {fault.message}",
                path=file,
                line=0,
                code=fault.code,
                sentence=fault.message,
            )
    return into
