"""Whether a small call may be made now, and what its end changes: day limit, back-off, park."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from reflector.agent.engine import Usage
from reflector.agent.prices import dearest
from reflector.core import backoff, park
from reflector.core.ambient import instant, stamp
from reflector.core.backoff import Backoff
from reflector.core.failure import Failure
from reflector.core.park import FailedRun
from reflector.runtime.calls.waits import Waits, passed
from reflector.runtime.scheduling import midnight, route_settings, today
from reflector.runtime.wiring import Context
from reflector.store import scheduling
from reflector.store.state import Connection, State


@dataclass(frozen=True, slots=True)
class Asked:
    """Which pipeline wants the calls, and who waits for them: nobody, or a person.

    A person may go over a day's limit.
    """

    pipeline: str
    automatic: bool = True
    over_budget: bool = False


def held(context: Context, state: State, asked: Asked) -> Waits | None:
    """Return what keeps a call from being made now; a probe that is due is let through, and noted."""
    engine = context.settings.text("engine.name")
    with state.transaction() as connection:
        found = look(context, state, asked)
        if isinstance(found, park.Probe):
            # Before the call: who dies in it must not probe again at once.
            scheduling.save_park(connection, engine, found.store)
    return found if isinstance(found, Waits) else None


def look(context: Context, state: State, asked: Asked) -> Waits | park.Probe | None:
    """Return what keeps a call from being made now, or that it would be a probe; nothing is noted."""
    connection, settings = state.connection, context.settings
    now = context.ambient.clock.now()
    if asked.automatic and scheduling.mark(connection, scheduling.JOURNAL_LOST):
        return Waits("held")
    day = today(state, now, settings)
    if day.cost_usd >= settings.money("day.max_cost_usd") and not asked.over_budget:
        return Waits("day_cost", day.ends_at)
    waits = waiting(connection, asked.pipeline)
    if asked.automatic and not backoff.eligible(waits.next_eligible_at, now):
        return Waits("back_off", waits.next_eligible_at)
    parked = scheduling.park_state(connection, settings.text("engine.name"))
    return passed(parked, now, automatic=asked.automatic)


def _back_off(pipeline: str) -> str:
    return f"{pipeline}_backoff"


def waiting(connection: Connection, pipeline: str) -> Backoff:
    """Return how often in a row calls of a pipeline failed, and until when they wait."""
    fields = scheduling.facts(connection, _back_off(pipeline))
    try:
        until = fields.get("until")
        return Backoff(int(fields.get("failures", 0)), instant(until) if until else None)
    except (ValueError, TypeError):
        return Backoff()


def paid(connection: Connection, usage: Usage, now: datetime) -> None:
    """Note what a call cost, for the limit of the day; it is over once this is reached."""
    if usage != Usage():
        scheduling.add_job_cost(connection, stamp(midnight(now)), dearest(usage))


def succeeded(context: Context, connection: Connection, pipeline: str) -> None:
    """Follow a call that was answered: nothing waits any more, and the route is not parked."""
    engine = context.settings.text("engine.name")
    scheduling.clear_mark(connection, _back_off(pipeline))
    if scheduling.park_state(connection, engine) != park.after_success():
        scheduling.save_park(connection, engine, park.after_success())


def failed(
    context: Context,
    connection: Connection,
    pipeline: str,
    failure: Failure,
    said: FailedRun,
    now: datetime,
) -> bool:
    """Follow a call that was not: calls wait, and the route may park; tell whether it did just now."""
    settings, engine = context.settings, context.settings.text("engine.name")
    chance = int(context.ambient.chance.hex(8), 16) / 2**32
    after = backoff.after_failure(waiting(connection, pipeline), now, chance)
    until = after.next_eligible_at
    fields = {"failures": after.consecutive_failures, "until": stamp(until) if until else None}
    scheduling.set_mark(connection, _back_off(pipeline), json.dumps(fields))
    before = scheduling.park_state(connection, engine)
    said = FailedRun(
        said.run, said.conversations, said.reason, said.detail, route_settings(settings)
    )
    state, parked = park.after_failure(before, said, failure, now, automatic=True)
    scheduling.save_park(connection, engine, state)
    return parked
