"""The worker of one identity's slot: recovers, works off what waits, and ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime import log
from reflector.runtime.background.beginning import wanted
from reflector.runtime.background.pipelines import Background, background
from reflector.runtime.bench import Bench
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import Quiet, bench_for, told_to_stop
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.tracebacks import clean_tracebacks
from reflector.runtime.unseat import unseated
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context, context

_TICK = 1.0
_LEAST_WAIT = timedelta(minutes=5)


def work(found: Context, slot: str, watch: Watch, child: Sequence[str] = CHILD) -> list[Run] | None:
    """Do all that can be done now or within the interval; None when another worker is at it.

    After the lock is let go the database is looked at once more: whoever asked in between found
    the slot owned, and relies on us.
    """
    done: list[Run] = []
    while True:
        with bench_for(found, slot, watch, child) as bench:
            if bench is None and unseated(found, slot):
                continue
            if bench is None:
                return done or None
            done += _work(bench, slot)
        with found.state() as state:
            if watch.stop() or not wanted(found, state, slot):
                return done


def _work(bench: Bench, slot: str) -> list[Run]:
    Scheduler(bench.context, bench.state).at_start()
    done = [*recover(bench, slot), *bring_home(bench, slot)]
    pipeline = background(slot)
    while not bench.watch.stop():
        now = pipeline.work(bench)
        done += now.runs
        if not _waits(bench, pipeline, now.next_at):
            break
    return done


def _waits(bench: Bench, pipeline: Background, until: datetime | None) -> bool:
    """Wait for that time if it is near, or for something new; tell whether there is more to do."""
    clock = bench.context.ambient.clock
    interval = timedelta(minutes=bench.context.settings.number("decisions.interval_minutes"))
    if until is None or until - clock.now() > max(interval, _LEAST_WAIT):
        return False
    known = pipeline.newest(bench.state.connection)
    while not bench.watch.stop():
        clock.sleep(_TICK)
        if clock.now() >= until or pipeline.newest(bench.state.connection) != known:
            return True
    return False


def main(words: Sequence[str]) -> int:
    """Be the detached worker of one slot. SIGTERM ends it between two effects."""
    clean_tracebacks()
    home, identity, slot = words[:3]
    found = context(home, identity)
    with told_to_stop() as wish, log.opened(found.agent.log, identity=identity) as logger:
        try:
            work(found, slot, Quiet(wish))
        except ReflectorError as error:
            logger.warning(log.SUPERVISOR_ENDED, error=error.message, code=error.code)
            return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
