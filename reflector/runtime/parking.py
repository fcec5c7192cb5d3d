"""The circuit breaker as a person sees it."""

from __future__ import annotations

from typing import Any, assert_never

from reflector.core.ambient import stamp
from reflector.core.park import Parked, ParkState, Streak, Unreadable, Watching
from reflector.runtime.wiring import Context
from reflector.store import scheduling, segments


def shown(context: Context) -> dict[str, Any]:
    """Return the public form of the chosen engine's circuit breaker."""
    with context.state() as state:
        route = context.settings.text("engine.name")
        return park_json(scheduling.park_state(state.connection, route))


def clear(context: Context) -> None:
    """Let automatic runs of the chosen engine start again."""
    with context.state() as state, state.transaction() as connection:
        engine = context.settings.text("engine.name")
        for route in (engine, segments.breaker(engine)):
            scheduling.save_park(connection, route, Watching())


def park_json(state: ParkState) -> dict[str, Any]:
    """Return the public form; keys are never renamed."""
    match state:
        case Watching(streak):
            return _json(streak, parked=False)
        case Parked():
            body = _json(state.streak, parked=True)
            since, probe = stamp(state.parked_at), stamp(state.next_probe_at)
            return body | {"since": since, "next_probe_at": probe}
        case Unreadable(why):
            return _json(None, parked=False) | {"reason": why}
        case _:
            assert_never(state)


def _json(streak: Streak | None, *, parked: bool) -> dict[str, Any]:
    last = streak.last if streak else None
    return {
        "parked": parked,
        "streak": streak.failures if streak else 0,
        "reason": f"{last.reason}: {last.detail}".rstrip(": ") if last else None,
        "since": None,
        "next_probe_at": None,
    }
