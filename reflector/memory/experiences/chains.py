"""What replaced what among experiences and facts: followed, written on both sides, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from reflector.memory.experiences.form import Stored

Known = Mapping[str, Stored]
"""Kept by their ids."""


def chain(known: Known, which: str) -> tuple[Stored, ...]:
    """Return an item, what it replaced and what replaced it, all the way, the oldest first."""
    found: dict[str, Stored] = {}
    waiting = [which]
    while waiting:
        item = known.get(waiting.pop())
        if item is not None and item.id not in found:
            found[item.id] = item
            waiting += [*item.supersedes, item.superseded_by]
    return tuple(_in_order(found))


def before(known: Known, which: str) -> tuple[Stored, ...]:
    """Return what an item replaced, directly or not, without the item itself."""
    return _reached(known, which, lambda item: item.supersedes)


def after(known: Known, which: str) -> tuple[Stored, ...]:
    """Return what replaced an item, directly or not, without the item itself."""
    return _reached(known, which, lambda item: (item.superseded_by,))


def against(known: Known, new: Stored, which: str) -> str:
    """Return why an item may not replace another, "" when it may (F135).

    Refused is a target that is not there, that something else replaced already, that is of the
    other layer, or that itself comes after the new item: the link would close a circle.
    """
    old = known.get(which)
    if old is None:
        return "not there"
    if which == new.id or which in {item.id for item in after(known, new.id)}:
        return "a circle"
    if old.status != "active" or old.superseded_by:
        return "replaced already"
    return "" if old.layer == new.layer else "of another kind"


def superseding(known: Known, new: Stored, targets: Iterable[str]) -> tuple[Stored, ...]:
    """Return an item that replaces others, then these: both sides say so."""
    wanted = tuple(one for one in dict.fromkeys(targets) if not against(known, new, one))
    links = tuple(dict.fromkeys((*new.supersedes, *wanted)))
    return (
        replace(new, supersedes=links),
        *(replace(known[which], status="superseded", superseded_by=new.id) for which in wanted),
    )


def mended(known: Known, item: Stored) -> Stored:
    """Return an item that names only those as replaced which are there and say so.

    A person may have removed one alone; no change of the others could be merged any more.
    """
    kept = tuple(
        which
        for which in item.supersedes
        if (old := known.get(which)) is not None and old.superseded_by == item.id
    )
    return item if kept == item.supersedes else replace(item, supersedes=kept)


def broken(known: Known, item: Stored) -> Iterator[str]:
    """Yield a sentence for every link of an item that has one side, leads nowhere or leads back."""
    yield from _broken_after(known, item)
    for which in item.supersedes:
        old = known.get(which)
        if old is None:
            yield f"It supersedes {which}, which is not there."
        elif old.superseded_by != item.id:
            yield f"{which} does not say that this supersedes it."
    if item.id in {one.id for one in after(known, item.id)}:
        yield "It supersedes itself in a circle."


def _broken_after(known: Known, item: Stored) -> Iterator[str]:
    if (item.status == "superseded") != bool(item.superseded_by):
        yield "Its 'status' and its 'superseded_by' contradict each other."
    later = known.get(item.superseded_by)
    if item.superseded_by and later is None:
        yield f"It is superseded by {item.superseded_by}, which is not there."
    if later is not None and item.id not in later.supersedes:
        yield f"{later.id} does not say that it supersedes this."


def _reached(
    known: Known, which: str, links: Callable[[Stored], Iterable[str]]
) -> tuple[Stored, ...]:
    found: dict[str, Stored] = {}
    waiting = list(links(known[which])) if which in known else []
    while waiting:
        item = known.get(waiting.pop())
        if item is not None and item.id not in found:
            found[item.id] = item
            waiting += links(item)
    return tuple(_in_order(found))


def _in_order(found: Known) -> Iterator[Stored]:
    """Yield what was replaced before what replaced it, and else the older first."""
    left = dict(sorted(found.items(), key=lambda pair: (pair[1].created, pair[0])))
    while left:
        free = (one for one in left.values() if not any(old in left for old in one.supersedes))
        chosen = next(free, None) or next(iter(left.values()))  # in a circle, the oldest
        yield left.pop(chosen.id)
