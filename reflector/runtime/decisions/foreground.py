"""Decisions worked off while a person waits: what was extracted, the runs, and why no more is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.errors import BusyError
from reflector.core.run import Run
from reflector.runtime.calls.allowance import Asked
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions.consolidation import consolidate
from reflector.runtime.decisions.due import Wish
from reflector.runtime.decisions.extraction import Worked, work_off
from reflector.runtime.decisions.names import PIPELINE, SLOT
from reflector.runtime.decisions.planning import Plan, plans
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import bench_for
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import decisions


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it. `left` are the plans of all banks after it, `queued` the messages left."""

    worked: Worked
    runs: tuple[Run, ...]
    end: Waits
    left: tuple[Plan, ...]
    queued: int

    @property
    def waiting(self) -> int:
        """Return how many deltas are in no file yet."""
        return sum(len(plan.rulings) for plan in self.left)

    @property
    def eligible(self) -> int:
        """Return how many of them may enter."""
        return sum(len(plan.eligible) for plan in self.left)


def consolidate_now(
    context: Context, watch: Watch, wish: Wish, child: Sequence[str] = CHILD
) -> Outcome:
    """Extract what waits, then consolidate what is due. Raises BusyError beside another worker."""
    context.require()
    with bench_for(context, SLOT, watch, child) as bench:
        if bench is None:
            raise BusyError(
                "The decisions of this memory are being worked on already.",
                hint="`reflector status` shows the run; try again when it has ended.",
            )
        Scheduler(context, bench.state).at_start()
        runs = [*recover(bench, SLOT), *bring_home(bench, SLOT)]
        asked = Asked(PIPELINE, automatic=not wish.force, over_budget=wish.over_budget)
        worked = work_off(context, bench.state, watch.stop, asked=asked)
        more, end = consolidate(bench, wish)
        connection = bench.state.connection
        left = plans(connection, context.settings, context.ambient.clock.now())
        queued = len(decisions.jobs(connection))
        return Outcome(worked, (*runs, *more), end, tuple(left), queued)
