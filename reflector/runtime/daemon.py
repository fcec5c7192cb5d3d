"""The long-lived supervisor: every identity of a home, its overdue work, its dreams, its sweeps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from reflector.core.errors import BusyError, ReflectorError
from reflector.core.schedule import Engine, Idle, Settled
from reflector.runtime import log
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import REFLECTION, drain
from reflector.runtime.retention import age_out
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.spooled import drain_spool
from reflector.runtime.sweep import sweep
from reflector.runtime.wiring import Context, of_agent
from reflector.store.disk import AgentHome
from reflector.store.locks import Lock

ROUND_SECONDS = 30.0
HOUR = 3600.0
_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Watching:
    """A watch over an unattended supervisor: it only asks whether to stop."""

    wish: Callable[[], bool]

    def say(self, line: str) -> None:
        """Tell nobody."""

    def progress(self, line: str) -> None:
        """Show nobody."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Show nobody."""

    def stop(self) -> bool:
        """Tell whether to stop now."""
        return self.wish()


@dataclass(slots=True)
class Daemon:
    """One round after another over all identities of a home. `engine` and `child` are for tests."""

    context: Context
    stop: Callable[[], bool]
    say: Callable[[str], None]
    engine: Engine | None = None
    child: Sequence[str] = CHILD
    _swept: dict[str, float] = field(default_factory=dict)

    def run(self, *, once: bool) -> None:
        """Work until told to stop, or for one round. Raises BusyError beside another daemon."""
        clock = self.context.ambient.clock
        with _alone(self.context):
            while not self.stop():
                self.round()
                if once:
                    return
                until = clock.monotonic() + ROUND_SECONDS
                while clock.monotonic() < until and not self.stop():
                    clock.sleep(_PAUSE)

    def round(self) -> None:
        """Drain the spool, then work for all identities in turn; one's trouble stays its own.

        Each run is followed by the next identity's, so that a large backlog keeps nobody waiting.
        """
        self._guarded("spool", lambda: drain_spool(self.context, launch=False))
        waiting = deque((agent, True) for agent in self.context.home.agents())
        while waiting and not self.stop():
            agent, first = waiting.popleft()
            if self._guarded(agent.identity, partial(self._identity, agent, first=first)):
                waiting.append((agent, False))

    def _identity(self, agent: AgentHome, *, first: bool) -> bool:
        """Give an identity its turn of one run; tell whether it needs another."""
        theirs = of_agent(self.context, agent)
        if not theirs.agent.repo.is_dir():
            return False
        if first:
            self._ask(theirs)
        done = drain(theirs, REFLECTION, Watching(self.stop), self.child, self.engine, most=1)
        for run in done or ():
            self.say(f"{theirs.agent.identity}: run {run.id} {run.outcome}")
        now = self.context.ambient.clock.monotonic()
        if now - self._swept.get(theirs.agent.slug, -HOUR) >= HOUR:
            self._swept[theirs.agent.slug] = now
            self._sweep(theirs)
        with theirs.state() as state:
            return bool(done) and Scheduler(theirs, state).waits(REFLECTION, tips=False)

    def _ask(self, theirs: Context) -> None:
        """Reserve what is overdue: what backed off or was parked when it came, then a dream."""
        with theirs.state() as state:
            scheduler = Scheduler(theirs, state, self.engine)
            if _on_main(theirs):  # else each round would leave one more run that could not begin
                scheduler.handle(Settled(success=True, origin="daemon"))
            scheduler.handle(Idle(origin="daemon"))

    def _sweep(self, theirs: Context) -> None:
        with log.opened(theirs.agent.log, identity=theirs.agent.identity) as logger:
            receipts = sweep(theirs, logger, dry_run=False)
        age_out(theirs)
        if receipts:
            self.say(f"{theirs.agent.identity}: swept {len(receipts)} leftovers")

    def _guarded(self, name: str, work: Callable[[], object]) -> bool:
        try:
            return work() is True
        except (ReflectorError, OSError) as error:
            self.say(f"{name}: {error.message if isinstance(error, ReflectorError) else error}")
            return False


def _on_main(theirs: Context) -> bool:
    return (theirs.agent.repo / ".git" / "HEAD").read_bytes() == b"ref: refs/heads/main\n"


@contextmanager
def _alone(context: Context) -> Iterator[None]:
    lock = Lock(context.home.path / "locks" / "supervise.lock")
    if not lock.take():
        raise BusyError(
            f"Another `reflector supervise` already works on {context.home.path}.",
            hint="One is enough for all identities of a home.",
        )
    try:
        yield
    finally:
        lock.release()
