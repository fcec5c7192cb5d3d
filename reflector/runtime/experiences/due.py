"""Which segment is extracted next, or what keeps every one of them waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from reflector.core import park
from reflector.core.ambient import instant
from reflector.core.backoff import eligible
from reflector.core.due import over_day
from reflector.core.machine import PRIORITY
from reflector.core.park import Parked, ParkState
from reflector.core.run import Request
from reflector.core.schedule import Asked
from reflector.core.snapshot import Snapshot
from reflector.runtime.calls.names import ASKS
from reflector.runtime.calls.waits import Waits, passed
from reflector.runtime.experiences.names import PIPELINE, SLOT
from reflector.runtime.scheduling import config_of, today
from reflector.runtime.settings import Settings
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling, segments
from reflector.store.segments import Waiting
from reflector.store.state import Connection, State

_TRIGGERS = {"compaction": "compaction", "session_end": "shutdown"}
_PRIORITY = 10
_LONGEST = 10 * 365 * 24 * 60
"""Minutes: no calendar reaches much further."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for: conversations (none = all), whether or not they are quiet.

    `everything` reads them from their beginning, `ranges` are recorded ones that are read again.
    """

    conversations: tuple[str, ...] = ()
    force: bool = False
    everything: bool = False
    ranges: tuple[Snapshot, ...] = ()
    dry_run: bool = False
    over_budget: bool = False


AUTOMATIC = Wish()


@dataclass(frozen=True, slots=True)
class Plan:
    """One conversation whose new part is read, or that range of it.

    `after` is where the part begins, None for behind its cursor.
    """

    conversation: str
    trigger: str
    after: int | None = None
    range: Snapshot | None = None


def due_at(one: Waiting, quiet: timedelta, now: datetime) -> datetime:
    """Return when an automatic run may read what waits in a conversation, `now` if at once.

    Distances, not differences: a clock that was set back must not put it off for long.
    """
    last = instant(one.last_at) if one.last_at and not one.asked else None
    at = last + quiet if last is not None and abs(now - last) < quiet else now
    until = instant(one.next_eligible_at) if one.next_eligible_at else None
    return at if until is None or eligible(until, now) else max(at, until)


def quiet_time(settings: Settings) -> timedelta:
    """Return how long a conversation rests before it is read."""
    return timedelta(minutes=min(settings.number("experiences.quiet_minutes"), _LONGEST))


def soonest(found: Sequence[Waiting], settings: Settings, now: datetime) -> datetime | None:
    """Return when the first of them is due, None when nothing waits."""
    return min((due_at(each, quiet_time(settings), now) for each in found), default=None)


def next_due(
    context: Context, state: State, wish: Wish = AUTOMATIC, but: frozenset[str] = frozenset()
) -> Plan | Waits:
    """Return what is read now, `but` some conversations, or why nothing is and until when."""
    settings, now = context.settings, context.ambient.clock.now()
    if not settings.flag("experiences.enabled"):
        return Waits("disabled")
    found = [each for each in _meant(state, wish) if each.conversation not in but]
    free = [each for each in found if each.conversation not in _held(state)]
    if not free:
        return Waits("kept_tip" if found else "nothing")
    quiet = quiet_time(settings)
    first = free[0] if wish.force else min(free, key=lambda each: due_at(each, quiet, now))
    at = due_at(first, quiet, now)
    if not wish.force and at > now:
        return Waits("nothing", at)
    if settings.text("engine.name") != ASKS:
        return Waits("no_model")
    answer = gate(context, state, asked_for(context, wish, _plan(first, wish), now), now)
    if (
        isinstance(answer, Clear) and answer.probes
    ):  # it is to judge the provider, not a conversation
        ready = (each for each in free if due_at(each, quiet, now) <= now)
        first = min(ready, key=lambda each: each.failures)
    return answer if isinstance(answer, Waits) else _plan(first, wish)


def _meant(state: State, wish: Wish) -> list[Waiting]:
    """Return what may be read: what waits, and what a person wants to see read once more."""
    if wish.ranges:
        return [Waiting(each.conversation, "") for each in wish.ranges]
    waits = segments.waiting(state.connection)
    if not wish.conversations:
        return waits
    known = {each.conversation: each for each in waits}
    again = wish.everything and wish.dry_run  # else its cursor was set back
    found = [known.get(name, Waiting(name, "") if again else None) for name in wish.conversations]
    return [each for each in found if each is not None]


def _plan(one: Waiting, wish: Wish) -> Plan:
    trigger = "manual" if wish.force else _TRIGGERS.get(one.asked, "quiet")
    after = 0 if wish.everything and wish.dry_run else None
    again = [each for each in wish.ranges if each.conversation == one.conversation]
    return Plan(one.conversation, trigger, after, next(iter(again), None))


def _held(state: State) -> frozenset[str]:
    """Return the conversations of which a tip waits for the memory to be free."""
    runs = reservations.kept(state.connection, SLOT)
    return frozenset(each.conversation for run in runs for each in run.snapshots)


def asked_for(context: Context, wish: Wish, plan: Plan, now: datetime) -> Asked:
    """Return what is asked for by a plan."""
    settings = context.settings
    request = Request(
        pipeline=PIPELINE,
        trigger=plan.trigger,
        origin="cli" if wish.force else "supervisor",
        priority=PRIORITY.get(plan.trigger, _PRIORITY),
        engine=ASKS,
        model=settings.text("models.small") or settings.text("engine.model"),
        dry_run=wish.dry_run,
    )
    return Asked(request, now, over_budget=wish.over_budget)


@dataclass(frozen=True, slots=True)
class Clear:
    """A run may start. `probes` are the breakers that it half-opens, to be saved before it does."""

    probes: tuple[tuple[str, Parked], ...] = ()


def gate(context: Context, state: State, asked: Asked, now: datetime) -> Waits | Clear:
    """Return why the run may not start, or what is to be saved with it; nothing is noted."""
    connection = state.connection
    stopped = scheduling.mark(connection, scheduling.JOURNAL_LOST) or _still_dirty(context, state)
    if asked.automatic and stopped:
        return Waits("held")
    day = today(state, now, context.settings)
    if over := over_day(day, config_of(context.settings), asked, SLOT):
        return Waits("day_runs" if over.value == "day_runs" else "day_cost", day.ends_at)
    probes = []
    for route, known in breakers(connection):
        match passed(known, now, automatic=asked.automatic):
            case Waits() as waits:
                return waits
            case park.Probe(store):
                probes.append((route, store))
            case None:
                pass
    return Clear(tuple(probes))


def breakers(connection: Connection) -> Iterator[tuple[str, ParkState]]:
    """Yield what may park extraction: its route, and its own segments.

    A route that is parked over what other pipelines read does not.
    """
    route = scheduling.park_state(connection, ASKS)
    if not (isinstance(route, Parked) and route.innocent):
        yield ASKS, route
    own = segments.breaker(ASKS)
    yield own, scheduling.park_state(connection, own)


def _still_dirty(context: Context, state: State) -> bool:
    """Tell whether another run would only say again why the last one could not begin."""
    before = reservations.could_not_begin(state.connection, SLOT)
    if not before:
        return False
    from reflector.vcs.whereabouts import parent_trouble  # noqa: PLC0415 - seldom needed

    return parent_trouble(context.agent.repo / ".git") == before
