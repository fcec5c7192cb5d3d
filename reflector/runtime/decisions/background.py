"""Decisions in the background: messages are extracted, then what is due is consolidated."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from reflector.runtime.calls.names import ASKS
from reflector.runtime.decisions.names import PIPELINE
from reflector.runtime.wiring import Context
from reflector.store import decisions, ledger_state
from reflector.store.state import Connection, State

if TYPE_CHECKING:
    from reflector.runtime.background.pipelines import Round
    from reflector.runtime.bench import Bench
    from reflector.runtime.calls.waits import Waits
    from reflector.runtime.decisions.extraction import Worked

# Only where something waits is the rest imported: most events must not pay for what rules on it.


def anything(connection: Connection) -> bool:
    """Tell whether a message or a decision waits."""
    return bool(decisions.jobs(connection, limit=1)) or ledger_state.any_waiting(connection)


def at_once(context: Context, state: State, until: float) -> None:
    """Extract what needs no model, at most until that time of the monotonic clock."""
    settings, clock = context.settings, context.ambient.clock
    alone = settings.flag("decisions.enabled") and settings.text("engine.name") != ASKS
    if alone and decisions.jobs(state.connection, limit=1):
        from reflector.runtime.decisions.extraction import work_off  # noqa: PLC0415

        work_off(context, state, lambda: clock.monotonic() > until)


def wanted(context: Context, state: State) -> bool:
    """Tell whether a worker would find something to do now."""
    settings = context.settings
    if not settings.flag("decisions.enabled") or settings.text("engine.name") != ASKS:
        return False  # no worker can do more than was done at once
    from reflector.runtime.calls.allowance import Asked, look  # noqa: PLC0415
    from reflector.runtime.calls.waits import Waits  # noqa: PLC0415
    from reflector.runtime.decisions.due import next_due  # noqa: PLC0415
    from reflector.runtime.decisions.planning import Plan  # noqa: PLC0415

    jobs = decisions.jobs(state.connection, limit=1)
    if jobs and not isinstance(look(context, state, Asked(PIPELINE)), Waits):
        return True
    return isinstance(next_due(context, state), Plan)


def work(bench: Bench) -> Round:
    """Extract what waits, then consolidate what is due."""
    from reflector.runtime.background.pipelines import Round  # noqa: PLC0415
    from reflector.runtime.decisions.consolidation import consolidate  # noqa: PLC0415
    from reflector.runtime.decisions.extraction import work_off  # noqa: PLC0415

    worked = work_off(bench.context, bench.state, bench.watch.stop, lambda: _parked(bench))
    runs, end = consolidate(bench)
    return Round(tuple(runs), _next(worked, end))


def newest(connection: Connection) -> int:
    """Return the last message that was noted."""
    return max((job.id for job in decisions.jobs(connection)), default=0)


def _parked(bench: Bench) -> None:
    from reflector.runtime import log  # noqa: PLC0415 - only a worker logs

    bench.log.warning(log.ROUTE_PARKED, run="", engine=ASKS)


def _next(worked: Worked, end: Waits) -> datetime | None:
    """Return when something can be done next, None when nobody knows."""
    times = [worked.held.until if worked.held else None, end.until]
    return min((each for each in times if each is not None), default=None)
