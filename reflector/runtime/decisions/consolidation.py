"""Decisions brought into the files of their bank: a run like any other, reserved when it is due."""

from __future__ import annotations

from reflector.core import park
from reflector.core.run import Run, consumes
from reflector.runtime.adoption import adopt
from reflector.runtime.bench import Bench
from reflector.runtime.calls.names import ASKS
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions.due import (
    AUTOMATIC,
    Wish,
    asked_for,
    gate,
    next_due,
)
from reflector.runtime.decisions.names import SLOT
from reflector.runtime.decisions.planning import Plan, batch
from reflector.runtime.decisions.settling import note_deltas
from reflector.runtime.loop import in_turn
from reflector.runtime.supervisor import supervise
from reflector.store import reservations, scheduling


def consolidate(bench: Bench, wish: Wish = AUTOMATIC) -> tuple[list[Run], Waits]:
    """Run one bank after the other until none is due; return the runs, and why there are no more.

    A bank whose run did not consume what it took is left alone: it is not due again at once.
    """
    done: list[Run] = []
    left_alone: frozenset[str] = frozenset()
    while True:
        plan = next_due(bench.context, bench.state, wish, left_alone)
        if isinstance(plan, Waits):
            return done, plan
        with in_turn(bench) as ours:
            run = _reserve(bench, plan, wish) if ours else Waits("held")
            if isinstance(run, Run):
                adopt(bench.context)  # what a person wrote meanwhile is part of the base
                run = supervise(bench, run)
        if isinstance(run, Waits):
            return done, run
        done.append(run)
        if run.outcome is None or not consumes(run.outcome):
            left_alone |= {plan.bank}


def _reserve(bench: Bench, plan: Plan, wish: Wish) -> Run | Waits:
    """Make the run and take its deltas in one transaction; whoever dies then leaves it to recovery."""
    context, clock = bench.context, bench.context.ambient.clock
    now = clock.now()
    asked = asked_for(context, plan, wish, now)
    with bench.state.transaction() as connection:
        found = gate(context, bench.state, asked, now)
        if isinstance(found, Waits):
            return found
        if isinstance(found, park.Probe):
            scheduling.save_park(connection, ASKS, found.store)
        taken = batch(connection, plan)
        run_id = context.ambient.run_id()
        reservations.reserve(
            connection, run_id, SLOT, asked.request, (), bench.who, context.ambient.now()
        )
        reservations.note_calls_model(connection, run_id, True)  # noqa: FBT003 - a value, not a mode
        note_deltas(connection, run_id, [one.id for one in taken])
    return reservations.find(bench.state.connection, run_id)
