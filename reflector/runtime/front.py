"""The front door of events: decide, reserve, and see that a supervisor owns what was reserved."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from reflector.core.ambient import stamp
from reflector.core.errors import NotFoundError
from reflector.core.machine import SLOT
from reflector.core.schedule import (
    Decision,
    Event,
    Mark,
    Nothing,
    Queue,
    Refuse,
    Reserve,
    Shutdown,
)
from reflector.runtime.overdue import overdue
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations, segments
from reflector.store.journal import Appender
from reflector.store.locks import Lock
from reflector.store.state import storable

REFLECTION = SLOT["reflection"]
SUPERVISOR = (sys.executable, "-I", "-m", "reflector.runtime.loop")
"""How a detached supervisor is started; home and identity are added to it."""

_GLANCES = 4
_GLANCE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Answer:
    """What an event led to. `supervisor`: "owns", "busy", "none", or why none could start."""

    decision: Decision
    supervisor: str

    def as_json(self) -> dict[str, Any]:
        """Return the public form."""
        until = getattr(self.decision, "until", None)
        why = getattr(self.decision, "why", None)
        return {
            "decision": _NAMES[type(self.decision)],
            "why": why.value if why is not None else None,
            "until": stamp(until) if until is not None else None,
            "supervisor": self.supervisor,
        }


_NAMES: dict[type, str] = {
    Reserve: "reserved",
    Queue: "queued",
    Mark: "marked",
    Refuse: "refused",
    Nothing: "nothing",
}


def handle(context: Context, event: Event, supervisor: Sequence[str] | None = SUPERVISOR) -> Answer:
    """Decide on an event, then see to it that what was decided in a project is read."""
    answer = decide(context, event, supervisor)
    if supervisor is not None:
        from reflector.runtime.background.beginning import begin  # noqa: PLC0415 - it imports this

        begin(context)
    return answer


def decide(context: Context, event: Event, supervisor: Sequence[str] | None) -> Answer:
    """Decide on an event and launch a supervisor when there is work that nobody owns.

    Work that an earlier event reserved and nobody took over is launched again, and so are the merge
    of a tip that waited and the recovery of a run whose owner died: nobody else would ever free its
    slot. Without a `supervisor` the caller sees to that itself.
    """
    context.require()
    with context.state() as state:
        scheduler = Scheduler(context, state)
        if isinstance(event, Shutdown):
            with state.transaction() as connection:
                segments.session_ended(connection, event.conversation)
        decision = scheduler.handle(event)
        waits = scheduler.waits(REFLECTION, tips=True)
        # Of a living owner too: the presence lock tells them apart when one is launched.
        waits = waits or bool(reservations.abandoned(state.connection, REFLECTION))
    if not waits or supervisor is None:
        return Answer(decision, "none")
    return Answer(decision, launch(context, supervisor))


def mark_compaction(context: Context, conversation: str, boundary: str) -> None:
    """Note that a harness compacted a conversation; the same boundary counts once.

    Raises NotFoundError for a conversation that is not in the journal.
    """
    with context.state() as state, state.transaction() as connection:
        found = journal.conversation(connection, conversation)
        if found is None:
            raise NotFoundError(
                f"There is no conversation {conversation!r} in the journal.",
                hint="`reflector status` lists the conversations.",
            )
        name = storable(boundary) or f"event-{found.last_at}"
        Appender(connection, context.ambient.now()).mark_boundary(found.row, name)


def launch(context: Context, supervisor: Sequence[str] = SUPERVISOR) -> str:
    """Start a detached supervisor and wait until it owns the slot, or says why not."""
    presence = Lock(context.agent.lock(f"run-{REFLECTION}"))
    free = taken(presence, context)
    presence.release()
    if not free and overdue(context, REFLECTION) is None:
        return "busy"  # its owner looks once more after it lets go
    # Most events lead to nothing, and must not pay for what starts processes.
    from reflector.runtime.detached import launched  # noqa: PLC0415

    return launched(context, supervisor)


def taken(presence: Lock, context: Context) -> bool:
    """Take a presence lock, trying for a moment; tell whether it is ours.

    Who only looks whether an owner lives (`status`, an event) holds it for an instant. To take that
    for an owner would leave the work to nobody.
    """
    for _ in range(_GLANCES):
        if presence.take():
            return True
        context.ambient.clock.sleep(_GLANCE_SECONDS)
    return False


def describe(decision: Decision) -> str:
    """Say in a few words what an event led to."""
    match decision:
        case Reserve(asked, _):
            return f"reserved a run ({asked.request.trigger})"
        case Queue(asked, _):
            return f"waits for its turn ({asked.request.trigger})"
        case Mark():
            return "marked"
        case Refuse(why, until):
            return f"refused: {why}" + (f" until {stamp(until)}" if until else "")
        case Nothing(why):
            return f"nothing to do: {why}"
        case _:
            assert_never(decision)
