"""Runs as rows of the ledger and as values: what is written of one, and what a row says."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import get_args

from reflector.core.errors import StateError
from reflector.core.run import Outcome, Phase, Reason, Request, Run, Settlement
from reflector.core.snapshot import Mode, Snapshot
from reflector.store.locks import Owner
from reflector.store.state import storable

Row = Mapping[str, str | int | None]


def reserved_row(run_id: str, slot: str, request: Request, who: Owner, now: str) -> Row:
    """Return the row of a run that begins."""
    return {
        "id": run_id,
        "slot": slot,
        "pipeline": request.pipeline,
        "repository": "memory",
        "state": "active",
        "phase": Phase.RESERVED.value,
        "trigger": request.trigger,
        "origin": request.origin,
        "priority": request.priority,
        "focus": storable(request.focus),
        "engine": request.engine,
        "model": request.model,
        "dry_run": request.dry_run,
        "target": storable(request.target),
        "token": who.token,
        "owner_host": who.host,
        "owner_boot": who.boot,
        "owner_pid": who.pid,
        "reserved_at": now,
    }


def snapshot_row(run_id: str, position: int, each: Snapshot) -> Row:
    """Return the row of one snapshot of a run."""
    return {
        "run": run_id,
        "position": position,
        "conversation": each.conversation,
        "mode": each.mode,
        "first_sequence": each.first_sequence,
        "last_sequence": each.last_sequence,
        "first_entry": each.first_entry,
        "last_entry": each.last_entry,
        "entries": each.entries,
        "size": each.size,
        "backlog_remaining": each.backlog_remaining,
    }


def snapshots_of(connection: sqlite3.Connection, run_id: str) -> tuple[Snapshot, ...]:
    """Return what of each conversation a run was reserved for, in its order."""
    rows = connection.execute(
        "SELECT * FROM run_snapshots WHERE run = ? ORDER BY position", (run_id,)
    )
    return tuple(
        Snapshot(
            conversation=row["conversation"],
            first_sequence=row["first_sequence"],
            last_sequence=row["last_sequence"],
            first_entry=row["first_entry"],
            last_entry=row["last_entry"],
            entries=row["entries"],
            size=row["size"],
            backlog_remaining=row["backlog_remaining"],
            mode=_mode(row["mode"]),
        )
        for row in rows
    )


def _mode(text: str) -> Mode:
    modes: tuple[Mode, ...] = get_args(Mode)
    return next(mode for mode in modes if mode == text)


def request_of(row: sqlite3.Row) -> Request:
    """Return what a row of the ledger was asked to do."""
    return Request(
        pipeline=row["pipeline"],
        trigger=row["trigger"],
        origin=row["origin"],
        priority=row["priority"],
        engine=row["engine"],
        model=row["model"],
        focus=row["focus"],
        dry_run=bool(row["dry_run"]),
        target=row["target"],
    )


def run_of(row: sqlite3.Row, snapshots: tuple[Snapshot, ...]) -> Run:
    """Return the run of a row. Raises StateError when the row is damaged."""
    try:
        return _parsed(row, snapshots)
    except (ValueError, TypeError) as error:  # a state or outcome that never was
        raise StateError(
            f"The row of run {row['id']} in the state database is damaged: {error}.",
            hint="`reflector doctor --fix` brings the database back from git and the transcripts.",
        ) from error


def _parsed(row: sqlite3.Row, snapshots: tuple[Snapshot, ...]) -> Run:
    return Run(
        id=row["id"],
        slot=row["slot"],
        repository=row["repository"],
        request=request_of(row),
        phase=Phase(row["phase"]),
        snapshots=snapshots,
        reserved_at=row["reserved_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        branch=row["branch"],
        base=row["base"],
        tip=row["tip"],
        merge_commit=row["merge_commit"],
        sandboxed=bool(row["sandboxed"]),
        settlement=_settlement(row),
    )


def _settlement(row: sqlite3.Row) -> Settlement | None:
    if row["outcome"] is None:
        return None
    return Settlement(
        outcome=Outcome(row["outcome"]),
        reason=Reason(row["reason"]) if row["reason"] else None,
        detail=row["detail"],
        findings=tuple(json.loads(row["findings"])),
        usage=json.loads(row["usage"]),
        tip=row["tip"],
        merge_commit=row["merge_commit"],
        kept_ref=row["kept_ref"],
    )
