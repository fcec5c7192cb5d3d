"""Which bank is consolidated next, or what keeps every one of them waiting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reflector.core import park
from reflector.core.due import over_day
from reflector.core.machine import MANUAL
from reflector.core.run import Request
from reflector.core.schedule import Asked
from reflector.runtime.calls.names import ASKS
from reflector.runtime.calls.waits import Waits, passed
from reflector.runtime.decisions.names import PIPELINE, SLOT
from reflector.runtime.decisions.planning import Plan, plans, recalled, remember
from reflector.runtime.decisions.settling import bank_of_run, target_of
from reflector.runtime.scheduling import config_of, today
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling
from reflector.store.state import State

_PRIORITY = 10


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for: one bank or all ("" = all), at once, over a limit of the day."""

    bank: str = ""
    force: bool = False
    over_budget: bool = False


AUTOMATIC = Wish()


def next_due(
    context: Context, state: State, wish: Wish = AUTOMATIC, but: frozenset[str] = frozenset()
) -> Plan | Waits:
    """Return the bank that is consolidated now, `but` some, or why none is and until when."""
    if not context.settings.flag("decisions.enabled"):
        return Waits("disabled")
    connection, now = state.connection, context.ambient.clock.now()
    if not wish.force:
        known = recalled(connection, context.settings, now)
        if known is not None and (known.at is None or known.at > now):
            return Waits("nothing", known.at)
    found = [
        each
        for each in _planned(context, state, now)
        if each.due_at is not None and wish.bank in ("", each.bank) and each.bank not in but
    ]
    return _first(context, state, wish, found, now) if found else Waits("nothing")


def _first(
    context: Context, state: State, wish: Wish, found: list[Plan], now: datetime
) -> Plan | Waits:
    """Return the bank that waits longest, or what keeps it waiting."""
    if context.settings.text("engine.name") != ASKS:
        return Waits("no_model")
    held = {bank_of_run(run) for run in reservations.kept(state.connection, SLOT)}
    free = [each for each in found if each.bank not in held]
    if not free:
        return Waits("kept_tip")
    first = min(free, key=lambda each: each.due_at or now)
    if not wish.force and first.due_at is not None and first.due_at > now:
        return Waits("nothing", first.due_at)
    refused = gate(context, state, asked_for(context, first, wish, now), now)
    return refused if isinstance(refused, Waits) else first


def _planned(context: Context, state: State, now: datetime) -> list[Plan]:
    found = plans(state.connection, context.settings, now)
    with state.transaction() as connection:
        remember(connection, context.settings, found, now)
    return found


def asked_for(context: Context, plan: Plan, wish: Wish, now: datetime) -> Asked:
    """Return what is asked for by a plan."""
    settings = context.settings
    request = Request(
        pipeline=PIPELINE,
        trigger="manual" if wish.force else "interval",
        origin="cli" if wish.force else "supervisor",
        priority=MANUAL if wish.force else _PRIORITY,
        engine=ASKS,
        model=settings.text("models.small") or settings.text("engine.model"),
        target=target_of(plan.bank),
    )
    return Asked(request, now, over_budget=wish.over_budget)


def gate(context: Context, state: State, asked: Asked, now: datetime) -> Waits | park.Probe | None:
    """Return why the run may not start, or that it would be a probe; nothing is noted."""
    connection = state.connection
    if asked.automatic and scheduling.mark(connection, scheduling.JOURNAL_LOST):
        return Waits("held")
    day = today(state, now, context.settings)
    if over := over_day(day, config_of(context.settings), asked, SLOT):
        return Waits("day_runs" if over.value == "day_runs" else "day_cost", day.ends_at)
    return passed(scheduling.park_state(connection, ASKS), now, automatic=asked.automatic)
