"""Which waiting request starts when its slot is free, and which no longer has a reason to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from reflector.core.due import STILL, may_start, over_day, part
from reflector.core.machine import SLOT
from reflector.core.park import Parked
from reflector.core.schedule import (
    Asked,
    Dropped,
    Part,
    Promotion,
    SchedulerConfig,
    SchedulerState,
    Standing,
    Why,
)


def promote(
    pending: Sequence[Asked], state: SchedulerState, config: SchedulerConfig, now: datetime
) -> Promotion:
    """Choose among the waiting requests of one slot: priority, then age.

    Whichever is in `launch` is active from this transaction on, and the caller launches it. While
    parked or held, every automatic one is dropped. Nothing is launched beside an active run.
    """
    order = sorted(
        pending, key=lambda each: (-each.request.priority, each.at, each.request.pipeline)
    )
    launch: Asked | None = None
    dropped: list[Dropped] = []
    kept: list[Asked] = []
    for asked in order:
        taken = launch is not None or SLOT[asked.request.pipeline] in state.active
        if why := _out_of_place(asked, state):
            dropped.append(Dropped(asked, why))
        elif taken:
            kept.append(asked)
        else:
            launch, gone = _still(asked, state, config, now)
            dropped += gone
    return Promotion(launch, tuple(dropped), tuple(kept))


def _out_of_place(asked: Asked, state: SchedulerState) -> Why | None:
    if not asked.automatic:
        return None
    return state.stopped or (Why.PARKED if isinstance(state.park, Parked) else None)


def _still(
    asked: Asked, state: SchedulerState, config: SchedulerConfig, now: datetime
) -> tuple[Asked | None, list[Dropped]]:
    """Return what is left of a request now, None if nothing, and what is dropped of it."""
    if why := _refused(asked, state, config):
        until = state.day.ends_at if why in (Why.DAY_RUNS, Why.DAY_COST) else None
        return None, [Dropped(asked, why, until)]
    known = {each.conversation: each for each in state.standings}
    stays: list[Part] = []
    gone: dict[Why, list[Part]] = {}
    for each in asked.parts:
        standing = known.get(each.conversation)
        fault = _fault(asked, each, standing, config, now)
        if fault is not None:
            gone.setdefault(fault, []).append(each)
        elif standing is not None:
            stays.append(part(standing, "advance", config) if each.mode == "advance" else each)
    dropped = [Dropped(replace(asked, parts=tuple(parts)), why) for why, parts in gone.items()]
    if not stays and asked.request.pipeline == "reflection":
        return None, dropped or [Dropped(asked, Why.NOTHING_NEW)]
    return _equipped(replace(asked, parts=tuple(stays)), state), dropped


def _refused(asked: Asked, state: SchedulerState, config: SchedulerConfig) -> Why | None:
    if asked.automatic:
        dream = asked.request.pipeline == "dream"
        if not (config.dream_enabled if dream else config.reflection_enabled):
            return Why.DISABLED
        if dream and not state.engine.can_dream:
            return Why.CANNOT_DREAM
    engaged = _equipped(asked, state)
    return over_day(state.day, config, engaged, SLOT[asked.request.pipeline])


def _fault(
    asked: Asked, which: Part, one: Standing | None, config: SchedulerConfig, now: datetime
) -> Why | None:
    """Say why a part must not run now. A hidden conversation is not known any more."""
    if one is None:
        return Why.UNKNOWN_CONVERSATION
    if one.blocked:
        return Why.KEPT_TIP
    if which.mode == "replay":
        return None
    if not one.has_new:
        return Why.NOTHING_NEW
    return _early(asked, one, config, now)


def _early(asked: Asked, one: Standing, config: SchedulerConfig, now: datetime) -> Why | None:
    holds = STILL.get(asked.request.trigger)
    if holds is None:  # a person's, or a dream
        return None
    if not holds(one, config):
        return Why.BELOW_THRESHOLD
    return None if may_start(one, now) else Why.BACK_OFF


def _equipped(asked: Asked, state: SchedulerState) -> Asked:
    """Give an automatic request the engine of the settings of now; a person's keeps its own."""
    if not asked.automatic:
        return asked
    engine = state.engine
    request = replace(asked.request, engine=engine.name, model=engine.model)
    return replace(asked, request=request, calls_model=engine.calls_model)
