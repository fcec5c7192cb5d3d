"""The worker of one identity's decisions: extracts what waits, consolidates what is due, and ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime import log
from reflector.runtime.bench import Bench
from reflector.runtime.decisions.beginning import wanted
from reflector.runtime.decisions.consolidation import consolidate
from reflector.runtime.decisions.extraction import Worked, work_off
from reflector.runtime.decisions.names import ASKS, SLOT
from reflector.runtime.decisions.waits import Waits
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import Quiet, bench_for, told_to_stop
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.tracebacks import clean_tracebacks
from reflector.runtime.unseat import unseated
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context, context
from reflector.store import decisions

_TICK = 1.0
_LEAST_WAIT = timedelta(minutes=5)


def work(found: Context, watch: Watch, child: Sequence[str] = CHILD) -> list[Run] | None:
    """Do all that can be done now or within the interval; None when another worker is at it.

    After the lock is let go the database is looked at once more: whoever asked in between found
    the slot owned, and relies on us.
    """
    done: list[Run] = []
    while True:
        with bench_for(found, SLOT, watch, child) as bench:
            if bench is None and unseated(found, SLOT):
                continue
            if bench is None:
                return done or None
            done += _work(bench)
        with found.state() as state:
            if watch.stop() or not wanted(found, state):
                return done


def _work(bench: Bench) -> list[Run]:
    Scheduler(bench.context, bench.state).at_start()
    done = [*recover(bench, SLOT), *bring_home(bench, SLOT)]
    while not bench.watch.stop():
        worked = work_off(bench.context, bench.state, bench.watch.stop, lambda: _parked(bench))
        runs, end = consolidate(bench)
        done += runs
        if not _waits(bench, _next(worked, end)):
            break
    return done


def _parked(bench: Bench) -> None:
    bench.log.warning(log.ROUTE_PARKED, run="", engine=ASKS)


def _next(worked: Worked, end: Waits) -> datetime | None:
    """Return when something can be done next, None when nobody knows."""
    times = [worked.held.until if worked.held else None, end.until]
    return min((each for each in times if each is not None), default=None)


def _waits(bench: Bench, until: datetime | None) -> bool:
    """Wait for that time if it is near, or for another message; tell whether there is more to do."""
    clock = bench.context.ambient.clock
    interval = timedelta(minutes=bench.context.settings.number("decisions.interval_minutes"))
    if until is None or until - clock.now() > max(interval, _LEAST_WAIT):
        return False
    known = _newest(bench)
    while not bench.watch.stop():
        clock.sleep(_TICK)
        if clock.now() >= until or _newest(bench) != known:
            return True
    return False


def _newest(bench: Bench) -> int:
    return max((job.id for job in decisions.jobs(bench.state.connection)), default=0)


def main(words: Sequence[str]) -> int:
    """Be the detached worker of one identity. SIGTERM ends it between two effects."""
    clean_tracebacks()
    home, identity = words[:2]
    found = context(home, identity)
    with told_to_stop() as wish, log.opened(found.agent.log, identity=identity) as logger:
        try:
            work(found, Quiet(wish))
        except ReflectorError as error:
            logger.warning(log.SUPERVISOR_ENDED, error=error.message, code=error.code)
            return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
