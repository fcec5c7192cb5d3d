"""The long-lived supervisor: decides for every identity of a home, launches, and watches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from reflector.core.errors import BusyError, ReflectorError
from reflector.core.schedule import Engine, Idle, Settled
from reflector.runtime import push
from reflector.runtime.background.beginning import begin
from reflector.runtime.front import taken
from reflector.runtime.hands import Detached, Hands, Working
from reflector.runtime.loop import REFLECTION
from reflector.runtime.overdue import late_owner
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.spooled import drain_spool
from reflector.runtime.wiring import Context, of_agent
from reflector.store import reservations
from reflector.store.disk import AgentHome
from reflector.store.locks import Lock
from reflector.store.state import State

ROUND_SECONDS = 30.0
HOUR = 3600.0
TIPS_SECONDS = 600.0
"""Between two tries to merge a tip that waits, when nothing else is to be done."""
UNSEAT_SECONDS = 120.0
"""So long whoever ends a stuck owner may take before another one is sent."""
END_SECONDS = 45.0
"""So long a supervisor that was told to stop may take: a merge that began is not torn."""
_KILLED_SECONDS = 5.0
_PAUSE = 0.5


@dataclass(slots=True)
class _Identity:
    """What the daemon knows of one identity. `started` is of the monotonic clock."""

    agent: AgentHome
    started: float = -HOUR
    since: str = ""
    working: Working | None = None


@dataclass(slots=True)
class Daemon:
    """All identities of a home, each worked for by a process of its own.

    A process does one run and ends, and its identity queues up again behind the others: neither a
    long run nor a large backlog of one keeps the others waiting. `engine` is for tests.
    """

    context: Context
    stop: Callable[[], bool]
    say: Callable[[str], None]
    engine: Engine | None = None
    hands: Hands = field(default_factory=Detached)
    _known: dict[str, _Identity] = field(default_factory=dict)
    _queue: deque[str] = field(default_factory=deque)

    def run(self, *, once: bool) -> None:
        """Work until told to stop, or for one round. Raises BusyError beside another daemon."""
        clock = self.context.ambient.clock
        with _alone(self.context):
            try:
                while not self.stop():
                    self.round(None if once else clock.monotonic() + ROUND_SECONDS)
                    if once:
                        return
            finally:
                self._end()

    def round(self, until: float | None = None) -> None:
        """Decide for all identities, then see to the work until then, or until it is done.

        With a time, who still works then goes on into the next round. One's trouble stays its own.
        """
        self._guarded("spool", lambda: drain_spool(self.context, launch=False))
        for agent in self.context.home.agents():
            if not self.stop():
                self._guarded(agent.identity, partial(self._decide, agent))
        clock = self.context.ambient.clock
        while not self.stop():
            idle = self._idle()
            if idle if until is None else clock.monotonic() >= until:
                return
            clock.sleep(_PAUSE)

    def _decide(self, agent: AgentHome) -> None:
        """Reserve what is overdue: what backed off or was parked when it came, then a dream."""
        theirs = of_agent(self.context, agent)
        if not theirs.agent.repo.is_dir():
            return
        push.begin_when_behind(theirs)
        begin(theirs)
        each = self._known.setdefault(agent.slug, _Identity(agent))
        with theirs.state() as state:
            scheduler = Scheduler(theirs, state, self.engine)
            if _on_main(theirs):  # else the first of its rounds would leave a run that cannot begin
                scheduler.handle(Settled(success=True, origin="daemon"))
            scheduler.handle(Idle(origin="daemon"))
            if agent.slug not in self._queue and self._is_due(theirs, state, each):
                self._queue.append(agent.slug)

    def _is_due(self, theirs: Context, state: State, each: _Identity) -> bool:
        rested = self.context.ambient.clock.monotonic() - each.started
        if late_owner(theirs, state, REFLECTION) is not None:
            # Whoever comes next verifies and ends it, also if we started it; one at a time.
            return rested > UNSEAT_SECONDS
        waits = Scheduler(theirs, state, self.engine).waits(REFLECTION, tips=rested > TIPS_SECONDS)
        dead = bool(reservations.abandoned(state.connection, REFLECTION))
        if each.working is not None or not (waits or dead or rested >= HOUR):
            return False
        presence = Lock(theirs.agent.lock(f"run-{REFLECTION}"))
        free = taken(presence, theirs)
        presence.release()
        return free  # else its owner looks once more after it lets go

    def _idle(self) -> bool:
        """Hear who has ended, start who is next; tell whether nobody works or waits."""
        for each in list(self._known.values()):
            if each.working is not None and each.working.code() is not None:
                self._guarded(each.agent.identity, partial(self._ended, each))
        places = self.context.settings.number("supervisor.max_runs")
        while self._queue and self._at_work() < places and not self.stop():
            each = self._known[self._queue.popleft()]
            self._guarded(each.agent.identity, partial(self._start, each))
        return not self._queue and self._at_work() == 0

    def _at_work(self) -> int:
        return sum(each.working is not None for each in self._known.values())

    def _start(self, each: _Identity) -> None:
        ambient = self.context.ambient
        each.started, each.since = ambient.clock.monotonic(), ambient.now()
        each.working = self.hands.start(of_agent(self.context, each.agent))

    def _ended(self, each: _Identity) -> None:
        code, each.working = each.working.code() if each.working else 0, None
        theirs = of_agent(self.context, each.agent)
        if code:
            self.say(
                f"{each.agent.identity}: its supervisor ended with {code}; "
                f"see {theirs.agent.log.with_suffix('.err')}"
            )
        with theirs.state() as state:
            done = reservations.ended_since(state.connection, each.since)
            for run in done:
                self.say(f"{each.agent.identity}: run {run.id} {run.outcome}")
            # Without a run it would come round and round at once; the next round tries again.
            if done and Scheduler(theirs, state, self.engine).waits(REFLECTION, tips=False):
                self._queue.append(each.agent.slug)

    def _end(self) -> None:
        """End what was started: cleanly, and by force what does not end."""
        started = [each for each in self._known.values() if each.working is not None]
        working = [each.working for each in started if each.working is not None]
        for each in working:
            each.end()
        self._wait(working, END_SECONDS)
        for each in working:
            if each.code() is None:
                each.kill()
        self._wait(working, _KILLED_SECONDS)
        for identity in started:
            self._guarded(identity.agent.identity, partial(self._ended, identity))

    def _wait(self, working: Sequence[Working], seconds: float) -> None:
        clock = self.context.ambient.clock
        deadline = clock.monotonic() + seconds
        while any(each.code() is None for each in working) and clock.monotonic() < deadline:
            clock.sleep(_PAUSE)

    def _guarded(self, name: str, work: Callable[[], object]) -> None:
        try:
            work()
        except (ReflectorError, OSError) as error:
            self.say(f"{name}: {error.message if isinstance(error, ReflectorError) else error}")


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
