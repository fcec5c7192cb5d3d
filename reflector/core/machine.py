"""When a run is asked for, and with what weight; which waiting request starts next.

What `evaluate` answers. "free" means that nothing of the slot is active or pending; "triggered"
that a conversation has something new and, for each trigger, what the second column says.

| event | condition | free | slot taken or waited for |
|---|---|---|---|
| settled(false) | any | Nothing | Nothing |
| settled(true) | compaction: marked, and on | Reserve 20 | Queue; Nothing beside a reflection |
| settled(true) | step-count: threshold or bytes reached | Reserve 10 | the same |
| compaction_accepted | new boundary, rows behind the cursor | Mark | Mark |
| shutdown | something new | Reserve 25 | Queue, merged |
| idle | quiet, rested, something new | Reserve dream 15 | Queue; Nothing beside a dream |
| idle | quiet, rested, system tier over budget | Reserve dream 15 | the same |
| manual | something to read; a dream always | Reserve 30 | Queue, merged; a dry run: Refuse |

Automatic requests are refused, in this order, when `held`, while the memory is as it was when the
last run could not begin in it, when all of their conversations back
off or wait for a kept tip, over a day limit, and while parked (a probe needs a free slot). Manual
ones are refused only over a day limit, for a kept tip, or when the engine cannot dream. A dream
for another document than the waiting one's is refused, unless a person asks and nobody did before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from reflector.core import park
from reflector.core.due import (
    Holds,
    chosen,
    dreamt,
    many_bytes,
    many_steps,
    marked,
    may_start,
    over_day,
    part,
    readable,
    unseen,
)
from reflector.core.pending import capped, merge, mergeable
from reflector.core.run import Request
from reflector.core.schedule import (
    Asked,
    CompactionAccepted,
    Decision,
    Dropped,
    Engine,
    Event,
    Idle,
    Manual,
    Mark,
    Nothing,
    Part,
    Queue,
    Refuse,
    Reserve,
    SchedulerConfig,
    SchedulerState,
    Settled,
    Shutdown,
    Standing,
    Why,
)

MANUAL: Final = 30
"""Priority of what a person asked for: before every automatic trigger."""

PRIORITY: Final = {
    "manual": MANUAL,
    "shutdown": 25,
    "compaction": 20,
    "idle": 15,
    "pressure": 15,
    "step-count": 10,
}

SLOT: Final = {
    "reflection": "reflection",
    "dream": "reflection",
    "decisions": "decisions",
    "experiences": "experiences",
    "diary": "diary",
}
"""Which slot a pipeline's runs take: one active run per identity and slot."""


def manual(
    *, origin: str, engine: str, model: str = "", focus: str = "", dry_run: bool = False
) -> Request:
    """Return the request of a person: it always reserves, whatever the thresholds say."""
    return Request(
        pipeline="reflection",
        trigger="manual",
        origin=origin,
        priority=MANUAL,
        engine=engine,
        model=model,
        focus=focus,
        dry_run=dry_run,
    )


@dataclass(frozen=True, slots=True)
class _Look:
    state: SchedulerState
    config: SchedulerConfig
    now: datetime


def evaluate(
    state: SchedulerState, event: Event, config: SchedulerConfig, now: datetime
) -> Decision:
    """Decide what an event leads to. The table above says it in full."""
    look = _Look(state, config, now)
    match event:
        case CompactionAccepted():
            return _mark(state, event)
        case Settled():
            return _settled(look, event)
        case Shutdown():
            return _shutdown(look, event)
        case Idle():
            return _idle(look, event)
        case Manual():
            return _manual(look, event)
        case _:
            assert_never(event)


def _mark(state: SchedulerState, event: CompactionAccepted) -> Decision:
    found = next(
        (each for each in state.standings if each.conversation == event.conversation), None
    )
    if found is None:
        return Nothing(Why.UNKNOWN_CONVERSATION)
    if event.boundary == found.pending_compaction or event.boundary in found.boundaries:
        return Nothing(Why.ALREADY_MARKED)
    if found.unreflected_bytes <= 0:
        return Nothing(Why.NOTHING_NEW)  # the cursor is past it already
    return Mark(event.conversation, event.boundary)


_AFTER_A_TURN: Final[tuple[tuple[str, Holds], ...]] = (
    ("compaction", marked),
    ("step-count", many_steps),
    ("step-count", many_bytes),
)


def _settled(look: _Look, event: Settled) -> Decision:
    if not event.success:
        return Nothing(Why.FAILED_TURN)
    if not look.config.reflection_enabled:
        return Nothing(Why.DISABLED)
    if busy := _busy(look.state, "reflection"):
        return Nothing(busy)
    late: list[Standing] = []
    for trigger, holds in _AFTER_A_TURN:
        due = [each for each in look.state.standings if holds(each, look.config)]
        if any(may_start(each, look.now) for each in due):
            return _reflect(look, trigger, event.origin, due)
        late += due
    return _later(look.state, late) if late else Nothing(Why.BELOW_THRESHOLD)


def _shutdown(look: _Look, event: Shutdown) -> Decision:
    if not look.config.reflection_enabled:
        return Nothing(Why.DISABLED)
    only = event.conversation
    due = [one for one in look.state.standings if one.has_new and only in ("", one.conversation)]
    return _reflect(look, "shutdown", event.origin, due) if due else Nothing(Why.NOTHING_NEW)


def _reflect(look: _Look, trigger: str, origin: str, due: Sequence[Standing]) -> Decision:
    parts = tuple(part(each, "advance", look.config) for each in due if may_start(each, look.now))
    if not parts:
        return _later(look.state, due)
    return _enter(look, _asked(look, "reflection", trigger, origin, look.state.engine, parts))


def _later(state: SchedulerState, due: Sequence[Standing]) -> Refuse:
    """Say why none of the conversations that are due may start, and when the first one may."""
    if state.stopped:
        return Refuse(state.stopped)
    waits = [each.next_eligible_at for each in due if not each.blocked and each.next_eligible_at]
    return Refuse(Why.BACK_OFF, min(waits)) if waits else Refuse(Why.KEPT_TIP)


def _idle(look: _Look, event: Idle) -> Decision:
    state, config = look.state, look.config
    if not config.dream_enabled:
        return Nothing(Why.DISABLED)
    if not state.engine.can_dream:
        return Nothing(Why.CANNOT_DREAM)
    if busy := _busy(state, "dream") or _restless(look):
        return Nothing(busy)
    fresh = [each for each in state.standings if unseen(each, state.last_dream_at, look.now)]
    if not fresh and not (state.pressure and state.memory_changed):
        return Nothing(Why.NOTHING_NEW)
    trigger = "idle" if fresh else "pressure"
    parts = dreamt(fresh, config)
    return _enter(look, _asked(look, "dream", trigger, event.origin, state.engine, parts))


def _restless(look: _Look) -> Why | None:
    entries = [each.last_entry_at for each in look.state.standings if each.last_entry_at]
    quiet = timedelta(minutes=look.config.dream_idle_minutes)
    # Distances, not differences: a clock set back must not put dreams off for long.
    if any(abs(look.now - entry) < quiet for entry in entries):
        return Why.NOT_IDLE
    last, rest = look.state.last_dream_at, timedelta(hours=look.config.dream_min_hours_between)
    return Why.TOO_SOON if last and abs(look.now - last) < rest else None


def _manual(look: _Look, event: Manual) -> Decision:
    engine = event.engine or look.state.engine
    if event.pipeline == "dream" and not engine.can_dream:
        return Refuse(Why.CANNOT_DREAM)
    meant = [each for each in look.state.standings if readable(each, event)]
    parts = chosen(event, [each for each in meant if not each.blocked], look.config)
    if event.pipeline == "reflection" and not parts:
        blocked = any(each.blocked for each in meant)
        return Refuse(Why.KEPT_TIP) if blocked else Nothing(Why.NOTHING_NEW)
    asked = _asked(look, event.pipeline, "manual", event.origin, engine, parts)
    return _enter(
        look,
        replace(
            asked,
            request=replace(
                asked.request, focus=event.focus, dry_run=event.dry_run, target=event.target
            ),
            recent_n=event.recent_n,
            over_budget=event.over_budget,
        ),
    )


def _asked(
    look: _Look, pipeline: str, trigger: str, origin: str, engine: Engine, parts: tuple[Part, ...]
) -> Asked:
    if pipeline == "dream" and not origin:
        raise ValueError("a dream without an origin")
    request = Request(pipeline, trigger, origin, PRIORITY[trigger], engine.name, engine.model)
    return Asked(request, look.now, parts, calls_model=engine.calls_model)


def _busy(state: SchedulerState, pipeline: str) -> Why | None:
    if pipeline in state.active.values():
        return Why.ACTIVE
    return Why.PENDING if pipeline in state.pending else None


def _enter(look: _Look, asked: Asked) -> Decision:
    """Let a request in: at once if nothing is before it, else among those that wait."""
    state, slot = look.state, SLOT[asked.request.pipeline]
    if asked.automatic and state.stopped:
        return Refuse(state.stopped)
    if over := over_day(state.day, look.config, asked, slot):
        return Refuse(over, state.day.ends_at)
    # What waits goes before what comes, so that nobody is active whom nobody launches.
    free = slot not in state.active and not any(SLOT[each] == slot for each in state.pending)
    match park.gate(state.park, look.now, automatic=asked.automatic):
        case park.Refused(until):
            return Refuse(Why.PARKED, until)
        case park.Probe(store):
            probe = Reserve(_narrowed(asked, state), store)
            return probe if free else Refuse(Why.PARKED, look.now)
        case park.Admit():
            return Reserve(asked) if free else _queue(look, asked)
        case never:
            assert_never(never)


def _narrowed(asked: Asked, state: SchedulerState) -> Asked:
    """Let a probe read the one conversation that failed least: it is to judge the provider."""
    failures = {each.conversation: each.consecutive_failures for each in state.standings}
    best = min(asked.parts, key=lambda each: failures.get(each.conversation, 0), default=None)
    return replace(asked, parts=(best,) if best else ())


def _queue(look: _Look, asked: Asked) -> Decision:
    if asked.request.dry_run:
        return Refuse(Why.BUSY)
    waiting = look.state.pending.get(asked.request.pipeline)
    if waiting is None:
        return Queue(*capped(asked, look.config))
    if mergeable(waiting, asked):
        return Queue(*capped(merge(waiting, asked), look.config))
    if waiting.automatic and not asked.automatic:
        kept, cut = capped(asked, look.config)
        return Queue(kept, (Dropped(waiting, Why.REPLACED), *cut))
    return Refuse(Why.BUSY)
