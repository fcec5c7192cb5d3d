"""The supervisor's loop: owns a slot while its identity has work, run after run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.machine import SLOT
from reflector.core.run import Run
from reflector.core.schedule import Engine, Settled
from reflector.runtime import log
from reflector.runtime.bench import Bench
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.supervisor import supervise
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context, context
from reflector.store.locks import Lock, owner
from reflector.store.turns import turn

REFLECTION = SLOT["reflection"]
_GLANCES = 4
_GLANCE_SECONDS = 0.02


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
    if not _taken(presence, found):
        yield None
        return
    try:
        with (
            log.opened(found.agent.log, identity=found.agent.identity) as logger,
            found.state(busy_seconds=30) as state,
        ):
            yield Bench(found, state, owner(found.ambient.token()), logger, watch, child)
    finally:
        presence.release()


def _taken(presence: Lock, found: Context) -> bool:
    """Try for a moment: a command that only looks whether an owner lives holds the lock, too."""
    for _ in range(_GLANCES):
        if presence.take():
            return True
        found.ambient.clock.sleep(_GLANCE_SECONDS)
    return False


def drain(
    found: Context,
    slot: str,
    watch: Watch,
    child: Sequence[str] = CHILD,
    engine: Engine | None = None,
) -> list[Run] | None:
    """Bring every run of a slot to its end; None when another supervisor owns it.

    After the lock is let go the database is looked at once more: whoever asked in between found
    the slot owned, and relies on us.
    """
    done: list[Run] = []
    while True:
        with bench_for(found, slot, watch, child) as bench:
            if bench is None:
                return done or None
            worked = work_off(bench, slot, engine)
            done += worked
        if watch.stop():
            return done
        with found.state() as state:
            waits = Scheduler(found, state, engine).waits(slot, tips=False)
        if not waits or not worked:
            return done


def work_off(bench: Bench, slot: str, engine: Engine | None = None) -> list[Run]:
    """Recover, merge what waited, then run what is reserved or waits, strongest first."""
    scheduler = Scheduler(bench.context, bench.state, engine)
    scheduler.at_start()
    done = recover(bench, slot)
    done += bring_home(bench)
    while not bench.watch.stop() and scheduler.waits(slot, tips=False):
        with in_turn(bench) as ours:
            run = scheduler.next_run(slot, bench.who) if ours else None
            if run is None:
                return done
            done.append(supervise(bench, run))
        if not scheduler.waits(slot, tips=False):
            # What reached a threshold beside the run was told that the slot was taken.
            scheduler.handle(Settled(success=True, origin="drain"))
    return done


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
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
