"""Segments extracted one after the other: each a run like any other, reserved when it is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from reflector.core.run import Run, consumes
from reflector.core.snapshot import Snapshot
from reflector.runtime.adoption import adopt
from reflector.runtime.bench import Bench
from reflector.runtime.calls.waits import Waits
from reflector.runtime.experiences.due import (
    AUTOMATIC,
    Plan,
    Wish,
    asked_for,
    due_at,
    gate,
    next_due,
    quiet_time,
    soonest,
)
from reflector.runtime.experiences.names import SLOT
from reflector.runtime.loop import in_turn
from reflector.runtime.supervisor import supervise
from reflector.store import reservations, scheduling, segments


def extract(bench: Bench, wish: Wish = AUTOMATIC) -> tuple[list[Run], Waits]:
    """Run one segment after the other until none is due; return the runs, and why there are no more.

    A conversation whose run did not consume what it read is left alone: it is not due at once.
    """
    done: list[Run] = []
    left_alone: frozenset[str] = frozenset()
    while not bench.watch.stop():
        plan = next_due(bench.context, bench.state, wish, left_alone)
        if isinstance(plan, Waits):
            return done, replace(plan, until=plan.until or _again(bench))
        with in_turn(bench) as ours:
            run = _reserve(bench, plan, wish) if ours else Waits("held")
            if isinstance(run, Run):
                adopt(bench.context)  # what a person wrote meanwhile is part of the base
                bench.watch.progress(f"run {run.id}: {_size(run.snapshots[0])}")
                run = supervise(bench, run)
        if isinstance(run, Waits):
            return done, run
        done.append(run)
        if wish.dry_run or wish.ranges or run.outcome is None or not consumes(run.outcome):
            left_alone |= {plan.conversation}
    return done, Waits("held")


def _again(bench: Bench) -> datetime | None:
    """Return when the first conversation may be tried again that now backs off."""
    now, settings = bench.context.ambient.clock.now(), bench.context.settings
    found = segments.waiting(bench.state.connection)
    later = [each for each in found if due_at(each, quiet_time(settings), now) > now]
    return soonest(later, settings, now)


def _size(taken: Snapshot) -> str:
    return f"{taken.entries} entries, {taken.size // 1024} KiB of {taken.conversation}"


def _reserve(bench: Bench, plan: Plan, wish: Wish) -> Run | Waits:
    """Cut the segment and make its run in one transaction; who dies then leaves it to recovery."""
    context, now = bench.context, bench.context.ambient.clock.now()
    asked = asked_for(context, wish, plan, now)
    with bench.state.transaction() as connection:
        found = gate(context, bench.state, asked, now)
        if isinstance(found, Waits):
            return found
        limit = context.settings.number("snapshot.max_bytes")
        taken = plan.range or segments.cut(connection, plan.conversation, limit, plan.after)
        if taken is None:  # it was forgotten or hidden meanwhile
            return Waits("nothing", now)
        for route, parked in found.probes:
            scheduling.save_park(connection, route, parked)
        run_id = context.ambient.run_id()
        reservations.reserve(
            connection, run_id, SLOT, asked.request, (taken,), bench.who, context.ambient.now()
        )
        reservations.note_calls_model(connection, run_id, True)  # noqa: FBT003 - a value, not a mode
    return reservations.find(bench.state.connection, run_id)
