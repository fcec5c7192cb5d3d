"""Requests that wait: what merges into what, how much may wait, how much one run takes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from reflector.core.schedule import Asked, Dropped, Part, SchedulerConfig, Why
from reflector.core.snapshot import Snapshot


def mergeable(waiting: Asked, newer: Asked) -> bool:
    """Tell whether two requests may become one.

    Only of one pipeline, and for the same target document. A dry run merges with nothing: it would
    turn dry what must be kept, or keep what must stay dry.
    """
    one, other = waiting.request, newer.request
    same = one.pipeline == other.pipeline and one.target == other.target
    return same and not one.dry_run and not other.dry_run


def merge(waiting: Asked, newer: Asked) -> Asked:
    """Return the one request that both become.

    The stronger priority (of equals the newer) decides trigger, origin, focus and engine;
    conversations are united in the order in which they were first seen; the most steps are
    replayed. The age stays that of the older one. Raises ValueError when they must not be merged.
    """
    if not mergeable(waiting, newer):
        raise ValueError(f"{newer.request.pipeline} does not merge into the request that waits")
    stronger = waiting if waiting.request.priority > newer.request.priority else newer
    return replace(
        stronger,
        at=min(waiting.at, newer.at),
        parts=united(waiting.parts, newer.parts),
        recent_n=max(waiting.recent_n, newer.recent_n),
        over_budget=waiting.over_budget or newer.over_budget,
    )


def united(first: Iterable[Part], then: Iterable[Part] = ()) -> tuple[Part, ...]:
    """Unite parts in first-seen order; `advance` and `replay` of one conversation stay two."""
    parts: dict[object, Part] = {}
    for part in (*first, *then):
        parts[_key(part)] = part  # keeps the place of the first and the size of the newest
    return tuple(parts.values())


def _key(part: Part) -> object:
    fixed = part.range and (part.range.first_entry, part.range.last_entry)
    return part.conversation, part.mode, fixed


def capped(asked: Asked, config: SchedulerConfig) -> tuple[Asked, tuple[Dropped, ...]]:
    """Cut a request down to what may wait, and return what was cut off.

    Whole conversations go, first seen first; the last one stays, however large.
    """
    sizes: dict[str, int] = {}
    for part in asked.parts:
        sizes[part.conversation] = sizes.get(part.conversation, 0) + part.size
    waiting = list(sizes)
    total = sum(sizes.values())
    while len(waiting) > 1 and (
        len(waiting) > config.pending_conversations or total > config.pending_bytes
    ):
        total -= sizes[waiting.pop(0)]
    stays = set(waiting)
    if len(stays) == len(sizes):
        return asked, ()
    gone = tuple(part for part in asked.parts if part.conversation not in stays)
    kept = tuple(part for part in asked.parts if part.conversation in stays)
    return replace(asked, parts=kept), (Dropped(replace(asked, parts=gone), Why.CAPPED),)


def take_for_run(
    snapshots: Sequence[Snapshot], max_bytes: int, alone: Collection[str] = ()
) -> tuple[tuple[Snapshot, ...], tuple[Snapshot, ...]]:
    """Split freshly cut snapshots into what one run reads and what is left.

    In order, as long as they fit; the first always does. A conversation in `alone` (under
    suspicion) shares its run with no other. What is left of an `advance` comes back by the cursor;
    a `replay` that is left must be asked for again.
    """
    taken: list[Snapshot] = []
    left: list[Snapshot] = []
    size, full = 0, False
    for each in snapshots:
        lone = each.conversation in alone
        if not taken or not (full or lone or size + each.size > max_bytes):
            taken.append(each)
            size += each.size
            full = lone
        else:
            left.append(each)
            full = full or not lone  # a suspect steps aside, what does not fit ends the run
    return tuple(taken), tuple(left)
