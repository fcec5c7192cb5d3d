"""The supervisor's loop: owns a slot while its identity has work, run after run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.failure import kind_of
from reflector.core.machine import SLOT
from reflector.core.run import Outcome, Run, consumes
from reflector.core.schedule import Engine, Settled
from reflector.runtime import log
from reflector.runtime.bench import Bench
from reflector.runtime.front import taken
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.supervisor import supervise
from reflector.runtime.sweep import sweep_in_time
from reflector.runtime.trouble import named
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context, context
from reflector.store import reservations
from reflector.store.locks import Lock, owner
from reflector.store.turns import turn

REFLECTION = SLOT["reflection"]
_EMPTY_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Quiet:
    """A watch that nobody looks through."""

    def say(self, line: str) -> None:
        """Tell nobody."""

    def progress(self, line: str) -> None:
        """Show nobody."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Show nobody."""

    def stop(self) -> bool:
        """Never want to stop."""
        return False


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
            yield Bench(found, state, owner(found.ambient.token()), logger, watch, child)
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
    ran: list[Run] = []
    if reservations.unowned(bench.state.connection, slot) is not None:
        # It holds the slot: until it has run, no kept tip can be taken up again.
        ran += _run(bench, lambda: scheduler.take_over(slot, bench.who))
    done += [*ran, *bring_home(bench)]
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
    """Be the detached supervisor of one identity: say that the slot is owned, then work."""
    home, identity = words
    found = context(home, identity)
    with bench_for(found, REFLECTION, Quiet()) as bench:
        # Whoever launched us waits for this word: success is told only of a living owner.
        sys.stdout.write("owns\n" if bench else "busy\n")
        sys.stdout.flush()
        if bench is None:
            return 0
        bench.log.info(log.SUPERVISOR_STARTED)
        try:
            work_off(bench, REFLECTION)
        except ReflectorError as error:
            bench.log.warning(log.SUPERVISOR_ENDED, error=error.message, code=error.code)
            return error.exit_code
        bench.log.info(log.SUPERVISOR_ENDED)
    drain(found, REFLECTION, Quiet())
    _sweep(found)
    return 0


def _sweep(found: Context) -> None:
    """Remove what the dead left, when the work is done; trouble with that is the next one's."""
    with log.opened(found.agent.log, identity=found.agent.identity) as logger:
        try:
            sweep_in_time(found, logger)
        except ReflectorError as error:
            logger.warning(log.CLEANUP_FAILED, error=error.message)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
