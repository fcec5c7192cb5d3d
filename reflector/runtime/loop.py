"""The supervisor's loop: owns a slot while its identity has work, run after run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.failure import kind_of
from reflector.core.machine import SLOT
from reflector.core.run import Outcome, Run, consumes
from reflector.core.schedule import Engine, Settled
from reflector.runtime import log, notice_file
from reflector.runtime.adoption import adopt
from reflector.runtime.bench import Bench
from reflector.runtime.front import taken
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.recovery import recover
from reflector.runtime.retention import age_out
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.supervisor import supervise
from reflector.runtime.sweep import AT_START, HOURLY, sweep_in_time
from reflector.runtime.tracebacks import clean_tracebacks
from reflector.runtime.trouble import named
from reflector.runtime.unseat import unseated
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context, context
from reflector.store import reservations, scheduling
from reflector.store.locks import Lock, owner
from reflector.store.turns import turn

REFLECTION = SLOT["reflection"]
LAST_AGED_OUT = "last_aged_out_at"
_EMPTY_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Quiet:
    """A watch that nobody looks through. `wish` says whether to stop."""

    wish: Callable[[], bool] = lambda: False

    def say(self, line: str) -> None:
        """Tell nobody."""

    def progress(self, line: str) -> None:
        """Show nobody."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Show nobody."""

    def stop(self) -> bool:
        """Tell whether to stop now."""
        return self.wish()


@contextmanager
def bench_for(
    found: Context, slot: str, watch: Watch, child: Sequence[str] = CHILD
) -> Iterator[Bench | None]:
    """Hold a slot's presence lock and everything a supervisor needs; None if somebody has it.

    The lock is taken before anything is owned and held until the last run is settled: it is the
    proof that the owner of the active run lives.
    """
    presence = Lock(found.agent.lock(f"run-{slot}"))
    if not taken(presence, found):
        yield None
        return
    try:
        with (
            named(found.home.path),
            log.opened(found.agent.log, identity=found.agent.identity) as logger,
            found.state(busy_seconds=30) as state,
        ):
            who = owner(found.ambient.token())
            presence.sign(who)
            yield Bench(found, state, who, logger, watch, child)
    finally:
        presence.release()


def drain(
    found: Context,
    slot: str,
    watch: Watch,
    child: Sequence[str] = CHILD,
    engine: Engine | None = None,
    most: int | None = None,
) -> list[Run] | None:
    """Bring every run of a slot to its end; None when another supervisor owns it.

    After the lock is let go the database is looked at once more: whoever asked in between found
    the slot owned, and relies on us. With `most`, that many runs are enough for now.
    """
    done: list[Run] = []
    empty = 0
    while True:
        with bench_for(found, slot, watch, child) as bench:
            if bench is None and unseated(found, slot):
                continue
            if bench is None:
                return done or None
            worked = work_off(bench, slot, engine, most)
            done += worked
        # Even a round that found nothing may have been relied on, just before its end.
        empty = 0 if worked else empty + 1
        if watch.stop() or empty == _EMPTY_ROUNDS or (most is not None and len(done) >= most):
            return done
        with found.state() as state:
            if not Scheduler(found, state, engine).waits(slot, tips=False):
                return done


def work_off(
    bench: Bench, slot: str, engine: Engine | None = None, most: int | None = None
) -> list[Run]:
    """Recover, run what is reserved, merge what waited, then run what waits, strongest first."""
    scheduler = Scheduler(bench.context, bench.state, engine)
    scheduler.at_start()
    done = recover(bench, slot)
    adopt(bench.context)
    ran: list[Run] = []
    if reservations.unowned(bench.state.connection, slot) is not None:
        # It holds the slot: until it has run, no kept tip can be taken up again.
        ran += _run(bench, lambda: scheduler.take_over(slot, bench.who))
    done += [*ran, *bring_home(bench, slot)]
    _ask_again(scheduler, slot, done)
    while (most is None or len(ran) < most) and scheduler.waits(slot, tips=False):
        new = _run(bench, lambda: scheduler.next_run(slot, bench.who))
        if not new:
            break
        ran += new
        done += new
        _ask_again(scheduler, slot, new)
    return done


def _run(bench: Bench, choose: Callable[[], Run | None]) -> list[Run]:
    """Run what is chosen, in its turn among all runs of the machine; [] if there is nothing."""
    if bench.watch.stop():
        return []
    with in_turn(bench) as ours:
        run = choose() if ours else None
        if run is not None:
            adopt(bench.context)  # what a person wrote meanwhile is part of the base
        return [supervise(bench, run)] if run is not None else []


def _ask_again(scheduler: Scheduler, slot: str, ran: Sequence[Run]) -> None:
    """Reserve what reached a threshold beside a run: it was told that the slot was taken."""
    if ran and all(map(_left_a_trace, ran)) and not scheduler.waits(slot, tips=False):
        scheduler.handle(Settled(success=True, origin="drain"))


def _left_a_trace(run: Run) -> bool:
    """Tell whether a run's end keeps the same run from starting again at once.

    A cursor that moved does, and a wait, and a tip that is kept for the same conversations. What
    counts for nothing (the memory is on another branch, a conflict) would come back without end.
    """
    end = run.settlement
    if end is None or run.request.dry_run:
        return False
    kept = end.outcome is Outcome.PARENT_DIRTY and end.kept_ref is not None
    return consumes(end.outcome) or kept or kind_of(end.outcome, end.reason) is not None


@contextmanager
def in_turn(bench: Bench) -> Iterator[bool]:
    """Hold one of the machine's places for the time of a run; False when told to stop."""
    found = bench.context
    places = found.settings.number("supervisor.max_runs")
    with turn(found.home.path / "locks", places, found.ambient, bench.watch.stop) as ours:
        yield ours


def main(words: Sequence[str]) -> int:
    """Be the detached supervisor of one identity: say that the slot is owned, then work.

    A third word is how many runs are enough, for a parent that comes again when more waits.
    SIGTERM cancels the run and cleans up.
    """
    clean_tracebacks()
    home, identity, *rest = words
    most = int(rest[0]) if rest else None
    found = context(home, identity)
    with told_to_stop() as wish:
        return _work(found, Quiet(wish), most, os.getppid())


def _work(found: Context, watch: Quiet, most: int | None, parent: int) -> int:
    with bench_for(found, REFLECTION, watch) as bench:
        # Whoever launched us waits for this word: success is told only of a living owner.
        sys.stdout.write("owns\n" if bench else "busy\n")
        sys.stdout.flush()
        if bench is not None:
            bench.log.info(log.SUPERVISOR_STARTED)
            _sweep(found, AT_START)
            try:
                work_off(bench, REFLECTION, most=most)
            except ReflectorError as error:
                bench.log.warning(log.SUPERVISOR_ENDED, error=error.message, code=error.code)
                return error.exit_code
            bench.log.info(log.SUPERVISOR_ENDED)
    if bench is None and not unseated(found, REFLECTION):
        return 0
    if most is None or bench is None or os.getppid() != parent:
        drain(found, REFLECTION, watch, most=most if os.getppid() == parent else None)
    upkeep(found)
    return 0


@contextmanager
def told_to_stop() -> Iterator[Callable[[], bool]]:
    """Make of SIGTERM a wish that is asked for between two effects."""
    wishes: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: wishes.append(number))
    try:
        yield lambda: bool(wishes)
    finally:
        signal.signal(signal.SIGTERM, before)


def upkeep(found: Context) -> None:
    """Say anew what a session begins with, and do what is due every hour: sweep, age out text."""
    notice_file.refresh(found)
    _sweep(found, HOURLY)
    with found.state() as state, state.transaction() as connection:
        now = found.ambient.clock.now()
        if not scheduling.due(connection, LAST_AGED_OUT, now, HOURLY):
            return
    age_out(found)


def _sweep(found: Context, every: timedelta) -> None:
    """Remove what the dead left; trouble with that is the next one's."""
    with log.opened(found.agent.log, identity=found.agent.identity) as logger:
        try:
            sweep_in_time(found, logger, every)
        except (ReflectorError, OSError) as error:
            logger.warning(log.CLEANUP_FAILED, error=str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
