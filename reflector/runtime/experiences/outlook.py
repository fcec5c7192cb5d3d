"""How the extraction of an identity stands, for whoever looks at its health."""

from __future__ import annotations

from typing import Any

from reflector.core.ambient import stamp
from reflector.core.experience import Scene
from reflector.core.park import Parked
from reflector.runtime.calls.names import ASKS
from reflector.runtime.experiences.due import breakers, soonest
from reflector.runtime.experiences.names import SLOT
from reflector.runtime.wiring import Context
from reflector.store import reservations, segments
from reflector.store.state import Connection


def as_json(context: Context, connection: Connection) -> dict[str, Any]:
    """Return the row of `status`: runs queued, segments waiting and failing, when more is read."""
    waits = segments.waiting(connection)
    last = reservations.last(connection, SLOT)
    end = last.settlement if last else None
    at = soonest(waits, context.settings, context.ambient.clock.now())
    for _, known in breakers(connection):
        at = max(at, known.next_probe_at) if at and isinstance(known, Parked) else at
    return {
        "name": "experiences",
        "enabled": context.settings.flag("experiences.enabled"),
        "queued": len(reservations.active(connection, SLOT)),
        "waiting": len(waits),
        "failed": sum(each.failures > 0 for each in waits),
        "oldest_at": segments.oldest_at(connection) if waits else None,
        "next_due_at": stamp(at) if at else None,
        "last_run": last.id if last else None,
        "last_error": (end.detail if end else "") or None,
    }


def notices(context: Context, row: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the settings leave undone: a code and a sentence."""
    found = []
    scene = context.settings.text("experiences.scene")
    if row["enabled"] and scene and scene not in frozenset(Scene):
        known = ", ".join(Scene)
        said = f"experiences.scene is {scene[:40]!r}, which is none of {known}: it counts as unset"
        found.append(("experiences_scene", f"{said}."))
    engine = context.settings.text("engine.name")
    # Whoever chose `rules` wants no model: the row of `status` says what waits, nothing nags.
    if row["enabled"] and row["waiting"] and engine not in ("rules", ASKS):
        many = row["waiting"]
        said = "1 conversation waits" if many == 1 else f"{many} conversations wait"
        said += f" for extraction: the engine {engine!r} makes no"
        found.append(
            (
                "experiences_no_model",
                f"{said} small calls; with engine.name 'anthropic' they are read.",
            )
        )
    return found
