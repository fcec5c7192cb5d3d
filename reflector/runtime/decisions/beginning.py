"""Whether something is to be done for decisions now, and a worker that does it in the background."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from reflector.runtime.decisions.names import ASKS, SLOT
from reflector.runtime.front import taken
from reflector.runtime.wiring import Context
from reflector.store import decisions, ledger_state, reservations
from reflector.store.locks import Lock
from reflector.store.state import State

WORKER = (sys.executable, "-I", "-m", "reflector.runtime.decisions.worker")
"""How a worker is started; home and identity are added to it."""
_AT_MOST = 2.0
"""Seconds that an event may take for messages that need no model; the next one goes on."""


def begin(context: Context, worker: Sequence[str] = WORKER) -> bool:
    """See to it that what waits is worked off; tell whether a worker was started.

    Nobody waits for a model here: what needs none is done at once, all else by a detached worker.
    """
    settings = context.settings
    with context.state() as state:
        if not _anything(state):
            return False
        if settings.flag("decisions.enabled") and settings.text("engine.name") != ASKS:
            from reflector.runtime.decisions.extraction import work_off  # noqa: PLC0415 - seldom

            clock = context.ambient.clock
            until = clock.monotonic() + _AT_MOST
            work_off(context, state, lambda: clock.monotonic() > until)
        if not wanted(context, state, tips=True):
            return False
    presence = Lock(context.agent.lock(f"run-{SLOT}"))
    free = taken(presence, context)
    presence.release()
    if not free:
        return False  # its owner looks once more after it lets go
    from reflector.runtime.detached import start  # noqa: PLC0415 - most events start nothing

    with contextlib.suppress(OSError):  # the next event tries again
        start(context, worker).returncode = 0  # it lives on without us
    return True


def _anything(state: State) -> bool:
    """Tell whether anything waits at all: most events of most people must not pay for more."""
    connection = state.connection
    if decisions.jobs(connection, limit=1) or reservations.abandoned(connection, SLOT):
        return True
    if reservations.kept(connection, SLOT):
        return True
    return ledger_state.any_waiting(connection)


def wanted(context: Context, state: State, *, tips: bool = False) -> bool:
    """Tell whether a worker would find something to do now; `tips`: kept ones count too."""
    # Only where something waits: most events must not pay for what rules on it.
    from reflector.runtime.decisions.allowance import look  # noqa: PLC0415
    from reflector.runtime.decisions.due import next_due  # noqa: PLC0415
    from reflector.runtime.decisions.planning import Plan  # noqa: PLC0415
    from reflector.runtime.decisions.waits import Waits  # noqa: PLC0415

    connection, settings = state.connection, context.settings
    if reservations.abandoned(connection, SLOT):
        return True
    if tips and reservations.kept(connection, SLOT):
        return True
    if not settings.flag("decisions.enabled"):
        return False
    jobs = settings.text("engine.name") == ASKS and bool(decisions.jobs(connection, limit=1))
    if jobs and not isinstance(look(context, state), Waits):
        return True
    return isinstance(next_due(context, state), Plan)
