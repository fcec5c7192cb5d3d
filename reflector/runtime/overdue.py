"""An owner that lives but no longer works: `doctor` names it, the next supervisor ends it."""

from __future__ import annotations

from datetime import datetime, timedelta

from reflector.core.ambient import instant
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.reservations import Owned
from reflector.store.state import State

_LATE = timedelta(minutes=10)
"""So long past its deadline, and without a sign of life, an owner counts as stuck."""


def is_late(began: datetime, seen: datetime, now: datetime, minutes: int) -> bool:
    """Tell whether an owner is past its run's deadline of so many minutes, and silent."""
    return now - began > timedelta(minutes=minutes) + _LATE and now - seen > _LATE


def late_owner(context: Context, state: State, slot: str) -> Owned | None:
    """Return the slot's active run if its owner is late. The owner may be dead as well."""
    found = reservations.owned(state.connection, slot)
    now = context.ambient.clock.now()
    minutes = context.settings.number("run.timeout_minutes")
    if found and is_late(instant(found.began_at), instant(found.seen_at), now, minutes):
        return found
    return None


def overdue(context: Context, slot: str) -> Owned | None:
    """Look into the database whether the slot's owner is late."""
    with context.state() as state:
        return late_owner(context, state, slot)
