"""An experience or a fact forgotten: out of the memory by one commit, and out of what is derived."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from reflector.memory.commit_message import Update
from reflector.memory.experiences.forgotten import TRAILER, Gone
from reflector.memory.experiences.form import Layer, Stored, layer_of
from reflector.memory.experiences.inheritance import without
from reflector.memory.experiences.kept import kept_in
from reflector.memory.tree import Tree
from reflector.pipelines.experiences.writing import REPLACED
from reflector.runtime.experiences.reading import held, named
from reflector.runtime.wiring import Context
from reflector.runtime.writing import write
from reflector.store import recall, recall_uses


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What one command did: the commit, paths that went, paths that lost inherited text."""

    item: Stored
    commit: str
    removed: tuple[str, ...]
    changed: tuple[str, ...]


def forget(context: Context, layer: Layer, words: str) -> Forgotten:
    """Remove an item, all that it replaced, and what its followers took from these.

    Raises NotFoundError or UsageError for words that name no item or several. History keeps what
    was there: `memory forget PATH --history` takes it out of that as well.
    """
    found = held(context, layer)
    item = found.named(words)
    # First what is derived: after a death in between, the same command finds the item still, and
    # after one behind the commit it does not.
    _drop(context, without(found.kept.known, item.id).gone)
    gone: list[Stored] = []

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        items = kept_in(tree, layer)
        again = without(items.known, named(items, layer, item.id).id)
        gone[:] = again.gone
        return again.files

    def told() -> Iterator[tuple[str, str]]:
        # The item's own words tell what it was about, so the commit is told ids alone: its own, and
        # of the entries that it rested on, or the next reading of that talk would bring it back.
        return ((TRAILER, str(Gone(layer, one.id, one.evidence))) for one in gone)

    done = write(context, change, f"forgot {layer} {item.id}", trailers=told)
    _drop(context, gone)  # somebody may have searched, or written what goes as well
    removed = tuple(one.path for one in gone)
    changed = tuple(path for path in done.paths if path not in removed)
    return Forgotten(item, done.commit, removed, changed)


def _drop(context: Context, gone: Iterable[Stored]) -> None:
    """Take items out of what is derived from the memory: the words first, a full disk allows it."""
    recall.drop(context.agent, context.ambient.clock, recall.MEMORY)
    with context.state() as state, state.transaction() as connection:
        for one in gone:
            recall_uses.forget(connection, path=one.path)


def resting_on(tree: Tree, updates: Iterable[Update], entries: Collection[str]) -> list[str]:
    """Return the paths of items that rest on some entries alone, also of those that are gone.

    Who forgets a conversation forgets what was learned from it alone. `updates` are what commits
    say that they wrote: they tell it of what history still has.
    """
    told: dict[str, set[str]] = {}
    for each in updates:
        if layer_of(each.path) and not each.said.startswith(REPLACED):
            told.setdefault(each.path, set()).update(each.evidence)
    known = {item.path: set(item.evidence) for item in kept_in(tree).known.values()}
    rested = told | known
    return sorted(path for path, of in rested.items() if of and of <= set(entries))
