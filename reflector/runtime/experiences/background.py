"""Experiences in the background: what is due of any conversation is extracted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reflector.runtime.wiring import Context
from reflector.store import segments
from reflector.store.state import Connection, State

if TYPE_CHECKING:
    from reflector.runtime.background.pipelines import Round
    from reflector.runtime.bench import Bench

# The conversation that goes on always waits: the rest is imported only where something is due.


def anything(connection: Connection) -> bool:
    """Tell whether something was said that was not extracted."""
    return bool(segments.waiting(connection, limit=1))


def at_once(_context: Context, _state: State, _until: float) -> None:
    """Do nothing: all of it needs a model."""


def wanted(context: Context, state: State) -> bool:
    """Tell whether a worker would find something to do now."""
    from reflector.runtime.calls.names import ASKS  # noqa: PLC0415
    from reflector.runtime.experiences.due import Plan, next_due  # noqa: PLC0415

    if context.settings.text("engine.name") != ASKS:
        return False
    return isinstance(next_due(context, state), Plan)


def work(bench: Bench) -> Round:
    """Extract what is due."""
    from reflector.runtime.background.pipelines import Round  # noqa: PLC0415
    from reflector.runtime.experiences.reserving import extract  # noqa: PLC0415

    runs, end = extract(bench)
    return Round(tuple(runs), end.until)


def newest(connection: Connection) -> int:
    """Return a number that grows with whatever is added to what waits."""
    return segments.newest(connection)
