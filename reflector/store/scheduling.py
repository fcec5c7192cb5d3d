"""What the scheduler decides on and what it decided, in the same transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from reflector.core import backoff, park
from reflector.core.ambient import instant, stamp
from reflector.core.backoff import Strike, Suspect
from reflector.core.due import spent
from reflector.core.park import ParkState
from reflector.core.pending import take_for_run
from reflector.core.schedule import Asked, Day, Part, Standing
from reflector.core.snapshot import Snapshot
from reflector.store import journal
from reflector.store.journal import Conversation
from reflector.store.run_rows import request_of
from reflector.store.state import storable

JOURNAL_LOST = "journal_lost"
"""The mark that keeps automatic runs off after the database was moved aside."""
_JOB_COST = "job_cost"


# Read


def standings(connection: sqlite3.Connection, blocked: frozenset[str]) -> tuple[Standing, ...]:
    """Return where every main conversation stands, oldest first."""
    found = journal.backlog(connection, None, ())
    suspects = dict(
        connection.execute(
            "SELECT key, suspect FROM conversations WHERE suspect IS NOT NULL"
        ).fetchall()
    )
    failures = dict(
        connection.execute(
            "SELECT key, consecutive_failures FROM conversations WHERE consecutive_failures > 0"
        ).fetchall()
    )
    return tuple(
        _standing(connection, each, suspects.get(each.key), failures.get(each.key, 0), blocked)
        for each in found
    )


def _standing(
    connection: sqlite3.Connection,
    each: Conversation,
    suspect: str | None,
    failures: int,
    blocked: frozenset[str],
) -> Standing:
    known = suspect_from(suspect)
    return Standing(
        conversation=each.key,
        steps_since_reflection=each.steps_since_reflection,
        unreflected_bytes=each.unreflected_bytes,
        has_new=each.unreflected_bytes > 0 and _has_canonical(connection, each),
        pending_compaction=each.pending_compaction,
        next_eligible_at=instant(each.next_eligible_at) if each.next_eligible_at else None,
        consecutive_failures=failures,
        blocked=each.key in blocked,
        budget=known.budget if known else None,
        last_entry_at=instant(each.last_at) if each.last_at else None,
    )


def _has_canonical(connection: sqlite3.Connection, each: Conversation) -> bool:
    found = connection.execute(
        "SELECT 1 FROM entries WHERE conversation = ? AND sequence > ? AND canonical = 1 "
        "AND hidden = 0 LIMIT 1",
        (each.row, each.cursor),
    )
    return found.fetchone() is not None


def active(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the pipeline that holds each taken slot."""
    return dict(
        connection.execute("SELECT slot, pipeline FROM runs WHERE state = 'active'").fetchall()
    )


def pending(connection: sqlite3.Connection) -> dict[str, tuple[str, Asked]]:
    """Return the waiting run of each pipeline: its id and what was asked for."""
    rows = connection.execute(
        "SELECT * FROM runs WHERE state = 'pending' ORDER BY reserved_at, rowid"
    )
    return {row["pipeline"]: (row["id"], _asked(row)) for row in rows}


def _asked(row: sqlite3.Row) -> Asked:
    return Asked(
        request=request_of(row),
        at=instant(row["reserved_at"]),
        parts=tuple(_part(each) for each in json.loads(row["parts"])),
        recent_n=row["recent_n"],
        over_budget=bool(row["over_budget"]),
        calls_model=bool(row["calls_model"]),
    )


def _part(fields: dict[str, object]) -> Part:
    kept = fields["range"]
    chosen = Snapshot(**kept) if isinstance(kept, dict) else None
    return Part(**{**fields, "range": chosen})  # type: ignore[arg-type]  # written by `queue`


def day(connection: sqlite3.Connection, since: str, ends_at: datetime, price: float) -> Day:
    """Return what was used since an instant; an unknown price counts as `price` dollars."""
    runs: dict[str, int] = {}
    costs: list[float | None] = []
    rows = connection.execute(
        "SELECT slot, usage FROM runs WHERE calls_model = 1 AND started_at >= ?", (since,)
    )
    for row in rows:
        runs[row["slot"]] = runs.get(row["slot"], 0) + 1
        costs.append(json.loads(row["usage"]).get("cost_usd", 0.0))
    return Day(ends_at, runs, spent(costs, price) + job_cost(connection, since))


def job_cost(connection: sqlite3.Connection, since: str) -> float:
    """Return the dollars that calls outside of runs cost on the day that begins at an instant."""
    day, _, dollars = (mark(connection, _JOB_COST) or "").partition(" ")
    return float(dollars) if day == since else 0.0


def add_job_cost(connection: sqlite3.Connection, since: str, dollars: float) -> None:
    """Add what a call outside of a run cost to the day that begins at an instant."""
    total = job_cost(connection, since) + dollars
    set_mark(connection, _JOB_COST, f"{since} {total:.6f}")


def mark(connection: sqlite3.Connection, name: str) -> str | None:
    """Return a remembered value, None when it was never set."""
    row = connection.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
    return row["value"] if row else None


def facts(connection: sqlite3.Connection, name: str) -> dict[str, Any]:
    """Return a remembered JSON object; an empty one for what was never set, or is none."""
    try:
        found = json.loads(mark(connection, name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def counts(connection: sqlite3.Connection, name: str) -> dict[str, int]:
    """Return remembered numbers by name, in the order in which they were kept; none in doubt."""
    try:
        return {key: int(count) for key, count in facts(connection, name).items()}
    except (ValueError, TypeError, OverflowError):
        return {}


def set_mark(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Remember a value."""
    connection.execute(
        "INSERT INTO marks VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def clear_mark(connection: sqlite3.Connection, name: str) -> None:
    """Forget a value."""
    connection.execute("DELETE FROM marks WHERE name = ?", (name,))


def due(connection: sqlite3.Connection, name: str, now: datetime, every: timedelta) -> bool:
    """Tell whether something was not done for so long, and note that it is done now."""
    last = mark(connection, name)
    # A distance: a clock that was set back must not put it off for long.
    if last and abs(now - instant(last)) < every:
        return False
    set_mark(connection, name, stamp(now))
    return True


def park_state(connection: sqlite3.Connection, route: str) -> ParkState:
    """Return the circuit breaker of an engine route."""
    row = connection.execute("SELECT state FROM parks WHERE route = ?", (route,)).fetchone()
    return park.from_json(row["state"] if row else None)


def save_park(connection: sqlite3.Connection, route: str, state: ParkState) -> None:
    """Store the circuit breaker of an engine route."""
    connection.execute(
        "INSERT INTO parks VALUES (?, ?) ON CONFLICT (route) DO UPDATE SET state = excluded.state",
        (route, park.to_json(state)),
    )


def set_asides(connection: sqlite3.Connection) -> list[dict[str, str]]:
    """Return the ranges that no run survived, newest first."""
    rows = connection.execute("SELECT * FROM set_aside ORDER BY at DESC, rowid DESC")
    return [{name: row[name] for name in row.keys()} for row in rows]  # noqa: SIM118 - a sqlite3.Row


# Write


def queue(connection: sqlite3.Connection, run_id: str, slot: str, asked: Asked) -> None:
    """Make a request the waiting one of its pipeline; one that waits already is replaced by it."""
    request = asked.request
    connection.execute(
        "DELETE FROM runs WHERE state = 'pending' AND pipeline = ?", (request.pipeline,)
    )
    connection.execute(
        "INSERT INTO runs (id, slot, pipeline, repository, state, phase, trigger, origin, "
        "priority, focus, engine, model, dry_run, recent_n, target, over_budget, calls_model, "
        "parts, token, owner_host, owner_boot, owner_pid, reserved_at) VALUES "
        "(?, ?, ?, 'memory', 'pending', 'reserved', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', "
        "'', 0, ?)",
        (
            run_id,
            slot,
            request.pipeline,
            request.trigger,
            storable(request.origin),
            request.priority,
            storable(request.focus),
            request.engine,
            request.model,
            request.dry_run,
            asked.recent_n,
            storable(request.target),
            asked.over_budget,
            asked.calls_model,
            json.dumps([asdict(each) for each in asked.parts]),
            stamp(asked.at),
        ),
    )


def drop(connection: sqlite3.Connection, run_id: str, why: str, now: str) -> None:
    """End a waiting run that no longer has a reason to start; its rows come back by the cursor."""
    connection.execute(
        "UPDATE runs SET state = 'settled', phase = 'completed', outcome = 'cancelled', "
        "detail = ?, ended_at = ? WHERE id = ? AND state = 'pending'",
        (f"Not started: {why}.", now, run_id),
    )


def forget_pending(connection: sqlite3.Connection, run_id: str) -> None:
    """Take a waiting row away: its request becomes an active run under the same id."""
    connection.execute("DELETE FROM runs WHERE id = ? AND state = 'pending'", (run_id,))


def cut(
    connection: sqlite3.Connection, asked: Asked, max_bytes: int, run_bytes: int
) -> tuple[Snapshot, ...]:
    """Cut the snapshots of a request that starts now. Empty: there is nothing left to read.

    A conversation under suspicion is read in smaller pieces, and alone.
    """
    found: list[Snapshot] = []
    alone: set[str] = set()
    for part in asked.parts:
        which = journal.conversation(connection, part.conversation)
        if which is None or which.hidden:
            continue
        suspect = suspect_of(connection, part.conversation)
        if suspect and suspect.alone and part.mode == "advance":
            alone.add(part.conversation)
        snapshot = _cut(connection, which, part, asked.recent_n, suspect, max_bytes)
        if snapshot is not None:
            found.append(snapshot)
    return take_for_run(found, run_bytes, alone)[0]


def _cut(
    connection: sqlite3.Connection,
    which: Conversation,
    part: Part,
    recent_n: int,
    suspect: Suspect | None,
    max_bytes: int,
) -> Snapshot | None:
    if part.range is not None:
        return part.range
    if part.mode == "replay":
        return journal.replay(connection, which, max(recent_n, 1), max_bytes)
    whole = journal.snapshot(connection, which, max_bytes)
    if whole is None:
        return None
    budget = backoff.budget(suspect, whole.first_entry, max_bytes)
    return whole if budget >= max_bytes else journal.snapshot(connection, which, budget)


def suspect_of(connection: sqlite3.Connection, conversation: str) -> Suspect | None:
    """Return what a conversation is suspected of."""
    row = connection.execute(
        "SELECT suspect FROM conversations WHERE key = ?", (conversation,)
    ).fetchone()
    return suspect_from(row["suspect"]) if row else None


def suspect_from(text: str | None) -> Suspect | None:
    """Read a stored suspicion; one that cannot be read is none."""
    if text is None:
        return None
    try:
        fields = json.loads(text)
        strikes = tuple(Strike(**each) for each in fields.pop("strikes"))
        return Suspect(strikes=strikes, **fields)
    except (ValueError, KeyError, TypeError):
        return None
