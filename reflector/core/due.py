"""When a conversation is due, and whether the day has room: what asking and promoting share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from reflector.core.backoff import eligible
from reflector.core.pending import united
from reflector.core.schedule import (
    Asked,
    Day,
    Manual,
    Part,
    SchedulerConfig,
    Standing,
    Why,
)
from reflector.core.snapshot import Mode

Holds = Callable[[Standing, SchedulerConfig], bool]
"""Whether a trigger holds for a conversation, whatever its back-off."""


def marked(one: Standing, config: SchedulerConfig) -> bool:
    """Tell whether a compaction waits to be reflected."""
    return config.on_compaction and one.has_new and one.pending_compaction is not None


def many_steps(one: Standing, config: SchedulerConfig) -> bool:
    """Tell whether the threshold of steps is reached."""
    return one.has_new and 0 < config.step_count <= one.steps_since_reflection


def many_bytes(one: Standing, config: SchedulerConfig) -> bool:
    """Tell whether a whole snapshot's worth waits."""
    return one.has_new and one.unreflected_bytes >= config.snapshot_max_bytes


def something(one: Standing, _config: SchedulerConfig) -> bool:
    """Tell whether anything waits that can be reflected."""
    return one.has_new


def much(one: Standing, config: SchedulerConfig) -> bool:
    """Tell whether a request by step count still has its reason."""
    return many_steps(one, config) or many_bytes(one, config)


STILL: Final[dict[str, Holds]] = {"compaction": marked, "step-count": much, "shutdown": something}
"""What must still hold when an automatic reflection that waited starts."""


def may_start(one: Standing, now: datetime) -> bool:
    """Tell whether an automatic run may read this conversation now."""
    return not one.blocked and eligible(one.next_eligible_at, now)


def part(one: Standing, mode: Mode, config: SchedulerConfig) -> Part:
    """Return a conversation's part of a request, with an upper estimate of its size."""
    most = config.snapshot_max_bytes
    if mode == "advance":
        most = min(one.unreflected_bytes, most if one.budget is None else min(one.budget, most))
    return Part(one.conversation, mode, most)


def unseen(one: Standing, last_dream_at: datetime | None, now: datetime) -> bool:
    """Tell whether a conversation has something that no dream has seen.

    A time in the future is a wrong clock's: it must neither end dreams nor repeat them.
    """
    if one.blocked or one.last_entry_at is None or one.last_entry_at > now:
        return False
    return last_dream_at is None or last_dream_at > now or one.last_entry_at > last_dream_at


def dreamt(standings: Iterable[Standing], config: SchedulerConfig) -> tuple[Part, ...]:
    """Choose what a dream reads: the conversations with the newest entries."""
    known = [
        (each.last_entry_at, each) for each in standings if each.last_entry_at and not each.blocked
    ]
    known.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(
        part(each, "replay", config) for _, each in known[: config.dream_max_conversations]
    )


def readable(one: Standing, event: Manual) -> bool:
    """Tell whether a person's request means this conversation and finds something in it."""
    if event.ranges:
        return any(each.conversation == one.conversation for each in event.ranges)
    if event.conversation_ids and one.conversation not in event.conversation_ids:
        return False
    return one.has_new or event.recent_n > 0 or event.pipeline == "dream"


def chosen(
    event: Manual, standings: Sequence[Standing], config: SchedulerConfig
) -> tuple[Part, ...]:
    """Return the parts of a person's request, in the person's order. Only `standings` may run."""
    known = {each.conversation: each for each in standings}
    if event.ranges:
        replayed = [replace(each, mode="replay") for each in event.ranges]
        parts = [Part(each.conversation, each.mode, each.size, each) for each in replayed]
        return united([each for each in parts if each.conversation in known])
    if event.pipeline == "dream" and not event.conversation_ids:
        return dreamt(standings, config)
    named = [known[name] for name in dict.fromkeys(event.conversation_ids) if name in known]
    replays = event.recent_n > 0 or event.pipeline == "dream"
    mode: Mode = "replay" if replays else "advance"
    return tuple(
        part(each, mode, config) for each in (named if event.conversation_ids else standings)
    )


def over_day(day: Day, config: SchedulerConfig, asked: Asked, slot: str) -> Why | None:
    """Return which limit of the day a request is over. One that calls no model is over none."""
    if asked.over_budget or not asked.calls_model:
        return None
    if day.runs.get(slot, 0) >= config.day_max_runs:
        return Why.DAY_RUNS
    return Why.DAY_COST if day.cost_usd >= config.day_max_cost_usd else None


def spent(costs: Iterable[float | None], run_max_cost_usd: float) -> float:
    """Sum a day's costs in dollars; an unknown price counts as the most a run may cost."""
    return sum(run_max_cost_usd if cost is None else cost for cost in costs)
