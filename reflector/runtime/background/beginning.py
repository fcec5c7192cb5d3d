"""Whether something is to be done in the background, and workers that do it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from reflector.runtime.background.pipelines import SLOTS, Background, background
from reflector.runtime.front import taken
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.locks import Lock
from reflector.store.state import State

WORKER = (sys.executable, "-I", "-m", "reflector.runtime.background.worker")
"""How a worker is started; home, identity and slot are added to it."""
_AT_MOST = 2.0
"""Seconds that an event may take for what needs no model; the next one goes on."""


def begin(context: Context, worker: Sequence[str] = WORKER) -> tuple[str, ...]:
    """See to it that what waits is worked off; return the slots for which a worker was started.

    Nobody waits for a model here: what needs none is done at once, all else by detached workers.
    """
    clock = context.ambient.clock
    until = clock.monotonic() + _AT_MOST
    started = []
    with context.state() as state:
        for slot in SLOTS:
            found = background(slot)
            if not (found.anything(state.connection) or _left(state, slot)):
                continue
            found.at_once(context, state, until)
            if _left(state, slot) or found.wanted(context, state):
                started.append(slot)
    return tuple(slot for slot in started if _started(context, slot, worker))


def wanted(context: Context, state: State, slot: str) -> bool:
    """Tell whether a worker would find something to do now; a kept tip alone waits for events."""
    found: Background = background(slot)
    return bool(reservations.abandoned(state.connection, slot)) or found.wanted(context, state)


def _left(state: State, slot: str) -> bool:
    """Tell whether a dead worker left a run, or a tip waits to be merged."""
    connection = state.connection
    return bool(reservations.abandoned(connection, slot) or reservations.kept(connection, slot))


def _started(context: Context, slot: str, worker: Sequence[str]) -> bool:
    presence = Lock(context.agent.lock(f"run-{slot}"))
    free = taken(presence, context)
    presence.release()
    if not free:
        return False  # its owner looks once more after it lets go
    from reflector.runtime.detached import start  # noqa: PLC0415 - most events start nothing

    with contextlib.suppress(OSError):  # the next event tries again
        start(context, worker, slot).returncode = 0  # it lives on without us
    return True
