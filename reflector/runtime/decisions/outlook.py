"""How the decisions of an identity stand, for whoever looks at its health."""

from __future__ import annotations

from typing import Any

from reflector.core.ambient import stamp
from reflector.runtime.calls.names import ASKS, GAVE_UP
from reflector.runtime.decisions.names import SLOT
from reflector.runtime.wiring import Context
from reflector.store import decisions, ledger_state, reservations
from reflector.store.state import Connection


def as_json(context: Context, connection: Connection) -> dict[str, Any]:
    """Return the row of `status`: messages queued, decisions waiting, and when more is done."""
    counts = decisions.counts(connection)
    last = reservations.last(connection, SLOT)
    said = last.settlement.detail if last and last.settlement else ""
    gave_up = sum(n for why, n in counts.skipped.items() if why.startswith(GAVE_UP))
    return {
        "name": "decisions",
        "enabled": context.settings.flag("decisions.enabled"),
        "queued": counts.queued,
        "waiting": counts.waiting,
        "failed": counts.failed + gave_up,
        "oldest_at": counts.oldest_at or None,
        "next_due_at": _next_due(context, connection),
        "last_run": last.id if last else None,
        "last_error": counts.last_error or said or None,
    }


def _next_due(context: Context, connection: Connection) -> str | None:
    if not ledger_state.any_waiting(connection):
        return None
    from reflector.runtime.decisions import planning  # noqa: PLC0415 - seldom needed

    settings, now = context.settings, context.ambient.clock.now()
    known = planning.recalled(connection, settings, now)
    at = known.at if known else planning.soonest(planning.plans(connection, settings, now))
    return stamp(at) if at else None


def notices(context: Context, row: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the chosen engine leaves undone: a code and a sentence."""
    engine = context.settings.text("engine.name")
    if engine == ASKS or not row["enabled"]:
        return []
    if engine != "rules" and row["queued"]:
        many = row["queued"]
        said = "1 message waits" if many == 1 else f"{many} messages wait"
        said += f" for extraction: the engine {engine!r} makes no small"
        return [
            ("decisions_no_model", f"{said} calls; with engine.name 'anthropic' they are read.")
        ]
    if row["next_due_at"]:
        said = f"Decisions wait to enter their files, and the engine {engine!r} cannot write them"
        return [("decisions_no_model", f"{said}; with engine.name 'anthropic' they do.")]
    return []
