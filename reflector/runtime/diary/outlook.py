"""How the diary of an identity stands, for whoever looks at its health: numbers, never a word of it."""

from __future__ import annotations

from typing import Any

from reflector.core.ambient import stamp
from reflector.runtime.calls.names import ASKS, GAVE_UP
from reflector.runtime.diary.names import SLEPT, TROUBLE
from reflector.runtime.wiring import Context
from reflector.store import diary, scheduling
from reflector.store.state import Connection


def as_json(context: Context, connection: Connection) -> dict[str, Any]:
    """Return the row of `status`: turns to be judged, turns to be written down, and when."""
    counts = diary.counts(connection)
    gave_up = sum(n for why, n in counts.skipped.items() if why.startswith(GAVE_UP))
    return {
        "name": "diary",
        "enabled": context.settings.flag("diary.enabled"),
        "queued": counts.heard,
        "waiting": counts.judged,
        "failed": counts.failed + gave_up,
        "oldest_at": counts.oldest_at or None,
        "next_due_at": _next_due(context, counts.judged),
        "last_run": scheduling.facts(connection, SLEPT).get("id"),
        "last_error": counts.last_error or scheduling.facts(connection, TROUBLE).get("error"),
    }


def _next_due(context: Context, judged: int) -> str | None:
    if not judged or not context.settings.text("jobs.off_peak"):
        return None
    from reflector.runtime.diary.consolidating import closed  # noqa: PLC0415 - seldom needed

    hold = closed(context)
    return stamp(hold.until) if hold and hold.until else None


def notices(context: Context, row: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the chosen engine leaves undone: a code and a sentence."""
    engine = context.settings.text("engine.name")
    waiting = row["queued"] + row["waiting"]
    if engine == ASKS or not row["enabled"] or not waiting:
        return []
    turns = "1 turn waits" if waiting == 1 else f"{waiting} turns wait"
    said = f"{turns} for the diary: the engine {engine!r} makes no small calls; `engine.name` "
    return [("diary_no_model", f"{said}anthropic writes them down.")]
