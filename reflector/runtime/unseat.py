"""A stuck owner is ended, once everything that was recorded of it is true of its process."""

from __future__ import annotations

import psutil

from reflector.runtime import log
from reflector.runtime.overdue import overdue
from reflector.runtime.wiring import Context
from reflector.store.locks import Lock, owner, process_start
from reflector.store.reservations import Owned

_LOOK_AGAIN_SECONDS = 25.0
"""More than two heartbeats: after a sleep of the machine every owner looks stuck for a moment."""
_ENDS_SECONDS = 10.0
_PAUSE = 0.1


def unseated(context: Context, slot: str) -> bool:
    """End a stuck owner that keeps the slot's presence lock; tell whether the lock is free now.

    It is looked at twice, and killed only when everything that was recorded of it is true of the
    process with its id: a living owner is never robbed of its run.
    """
    first = overdue(context, slot)
    if first is None:
        return False
    context.ambient.clock.sleep(_LOOK_AGAIN_SECONDS)
    if overdue(context, slot) != first:
        return False
    presence = Lock(context.agent.lock(f"run-{slot}"))
    process = _verified(first, presence)
    if process is None:
        return False
    with log.opened(context.agent.log, identity=context.agent.identity) as logger:
        logger.warning(log.OWNER_KILLED, run=first.run, pid=process.pid)
    process.kill()
    return _is_free(context, presence)


def _verified(found: Owned, presence: Lock) -> psutil.Process | None:
    """Return the owner's process if host, boot, id, start, token and lock all speak for it."""
    signed, here = presence.signature(), owner("")
    if signed is None or not signed.started or (signed.host, signed.boot) != (here.host, here.boot):
        return None
    recorded = (found.who.host, found.who.boot, found.who.pid, found.who.token)
    if recorded != (signed.host, signed.boot, signed.pid, signed.token):
        return None
    try:
        # Made first: it refuses to kill whoever gets the id after this moment.
        process = psutil.Process(signed.pid)
        holds = any(each.path == str(presence.path.resolve()) for each in process.open_files())
    except psutil.Error:
        return None
    return process if holds and process_start(signed.pid) == signed.started else None


def _is_free(context: Context, presence: Lock) -> bool:
    """Wait until the dead owner's lock is free: not for the process, which nobody may reap."""
    clock = context.ambient.clock
    deadline = clock.monotonic() + _ENDS_SECONDS
    while not presence.take():
        if clock.monotonic() > deadline:
            return False
        clock.sleep(_PAUSE)
    presence.release()
    return True
