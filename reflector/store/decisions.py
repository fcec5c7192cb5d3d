"""The queue of messages that wait for extraction, and the ledger of the deltas that they gave."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from reflector.core.decision import (
    Delta,
    Friction,
    Kind,
    Origin,
    Recorded,
    Source,
)
from reflector.core.entry import Entry
from reflector.store.state import storable

VERSION = 1
"""The form of a delta that this program writes and reads."""

_ORIGINS = get_args(Origin)
_COLUMNS = (
    "version, bank, conversation, entry, at, origin, kind, statement, rejected_alternative, "
    "rationale, source, evidence, evidence_start, evidence_end, corrective, regression, subtle"
)


@dataclass(frozen=True, slots=True)
class Job:
    """One message that waits for extraction. `entry` is the first block of it."""

    id: int
    bank: str
    conversation: str
    message: str
    entry: str
    queued_at: str
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What queue and ledger hold: numbers only.

    `queued` are jobs, `failed` those of them that failed before, `waiting` deltas that no run has
    consumed; `unreadable` are rows of another form. `rejected` and `skipped` count by reason.
    """

    queued: int
    failed: int
    done: int
    waiting: int
    consumed: int
    unreadable: int
    oldest_at: str
    last_error: str
    rejected: Mapping[str, int]
    skipped: Mapping[str, int]


# The queue


def enqueue_job(
    connection: sqlite3.Connection, conversation: str, entry: Entry, bank: str, now: str
) -> bool:
    """Let a user message wait for extraction; tell whether it was new. Each message waits once.

    The bank is fixed here: when the prompt was typed, not when a model answers.
    """
    done = connection.execute(
        "INSERT INTO decision_jobs (bank, conversation, message, entry, queued_at) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (conversation, message) DO NOTHING",
        (storable(bank), storable(conversation), entry.message_id, entry.id, now),
    )
    return done.rowcount == 1


def jobs(connection: sqlite3.Connection, limit: int = -1) -> list[Job]:
    """Return the jobs that wait, in the order in which they were queued."""
    rows = connection.execute(
        "SELECT * FROM decision_jobs WHERE state = 'queued' ORDER BY id LIMIT ?", (limit,)
    )
    return [
        Job(
            id=row["id"],
            bank=row["bank"],
            conversation=row["conversation"],
            message=row["message"],
            entry=row["entry"],
            queued_at=row["queued_at"],
            attempts=row["attempts"],
            error=row["why"],
        )
        for row in rows
    ]


def finish_job(
    connection: sqlite3.Connection,
    job: Job,
    deltas: Sequence[Delta],
    origin: Origin,
    now: str,
    rejected: Mapping[str, int] | None = None,
) -> tuple[int, ...] | None:
    """End a job with what it gave; return the ids of its deltas.

    Deltas and the end of the job are one transaction, the caller's. None when the job waits no
    longer: somebody else has ended it, and nothing was added.
    """
    done = connection.execute(
        "UPDATE decision_jobs SET state = 'done', ended_at = ?, why = '', rejected = ? "
        "WHERE id = ? AND state = 'queued'",
        (now, json.dumps(dict(rejected or {}), sort_keys=True), job.id),
    )
    if done.rowcount != 1:
        return None
    at = _said_at(connection, job) or now
    made = (
        add_delta(connection, job.bank, job.conversation, job.entry, at, origin, each)
        for each in deltas
    )
    return tuple(made)


def skip_job(connection: sqlite3.Connection, job: Job, why: str, now: str) -> None:
    """End a job that no extraction is made for."""
    connection.execute(
        "UPDATE decision_jobs SET state = 'skipped', why = ?, ended_at = ? "
        "WHERE id = ? AND state = 'queued'",
        (why, now, job.id),
    )


def fail_job(connection: sqlite3.Connection, job: Job, error: str) -> None:
    """Note that an extraction failed; the job waits on, in its place."""
    connection.execute(
        "UPDATE decision_jobs SET attempts = attempts + 1, why = ? "
        "WHERE id = ? AND state = 'queued'",
        (storable(error[:512]), job.id),
    )


def _said_at(connection: sqlite3.Connection, job: Job) -> str:
    row = connection.execute("SELECT at FROM entries WHERE id = ?", (job.entry,)).fetchone()
    return row["at"] if row else ""


# The ledger


def add_delta(
    connection: sqlite3.Connection,
    bank: str,
    conversation: str,
    entry: str,
    at: str,
    origin: Origin,
    delta: Delta,
) -> int:
    """Add a row to the ledger; return its id. Ids grow in the order of adding and never come back."""
    texts = (delta.statement, delta.rejected_alternative, delta.rationale)
    where = (storable(bank), storable(conversation), entry, at, origin)
    friction = (delta.friction.corrective, delta.friction.regression, delta.friction.subtle)
    said = (delta.source.value, storable(delta.evidence), delta.start, delta.end)
    row = (VERSION, *where, delta.kind.value, *map(storable, texts), *said, *friction)
    done = connection.execute(
        f"INSERT INTO deltas ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608 - constants of this module
        row,
    )
    return int(done.lastrowid or 0)


def ledger(
    connection: sqlite3.Connection, bank: str | None = None, *, waiting: bool = False
) -> list[Recorded]:
    """Return the deltas of a bank, or of all, in the order of speaking.

    `waiting` leaves out what a run has consumed. A row of another form is passed over.
    """
    rows = connection.execute(
        "SELECT * FROM deltas WHERE bank = coalesce(?, bank) AND (consumed_by = '' OR NOT ?) "
        "ORDER BY id",
        (bank, waiting),
    )
    return [found for row in rows if (found := _recorded(row))]


def delta(connection: sqlite3.Connection, which: int) -> Recorded | None:
    """Return one delta; None when it is not there or of another form."""
    row = connection.execute("SELECT * FROM deltas WHERE id = ?", (which,)).fetchone()
    return _recorded(row) if row else None


def consume(connection: sqlite3.Connection, ids: Iterable[int], run_id: str, now: str) -> int:
    """Mark deltas as consumed by a run; return how many were. None is consumed twice."""
    done = connection.executemany(
        "UPDATE deltas SET consumed_by = ?, consumed_at = ? WHERE id = ? AND consumed_by = ''",
        [(run_id, now, each) for each in ids],
    )
    return done.rowcount


def bank_of_delta(connection: sqlite3.Connection, which: int) -> str | None:
    """Return the bank of a delta, whatever its form; None when it is not there."""
    row = connection.execute("SELECT bank FROM deltas WHERE id = ?", (which,)).fetchone()
    return row["bank"] if row else None


def forget_delta(connection: sqlite3.Connection, which: int) -> bool:
    """Remove a delta from the ledger, whatever its form; tell whether it was there."""
    return connection.execute("DELETE FROM deltas WHERE id = ?", (which,)).rowcount == 1


def _recorded(row: sqlite3.Row) -> Recorded | None:
    """Read a row of the ledger; None for one that this program does not understand."""
    flags = tuple(row[name] for name in ("corrective", "regression", "subtle"))
    fits = row["version"] == VERSION and row["origin"] in _ORIGINS and row["statement"].strip()
    if not fits or row["kind"] not in frozenset(Kind) or row["source"] not in frozenset(Source):
        return None
    if any(flag not in (0, 1) for flag in flags):
        return None
    found = Delta(
        kind=Kind(row["kind"]),
        statement=row["statement"],
        source=Source(row["source"]),
        evidence=row["evidence"],
        start=row["evidence_start"],
        end=row["evidence_end"],
        friction=Friction(*map(bool, flags)),
        rejected_alternative=row["rejected_alternative"],
        rationale=row["rationale"],
    )
    return Recorded(
        id=row["id"],
        bank=row["bank"],
        conversation=row["conversation"],
        entry=row["entry"],
        at=row["at"],
        origin=row["origin"],
        delta=found,
        consumed_by=row["consumed_by"],
    )


def counts(connection: sqlite3.Connection, bank: str | None = None) -> Counts:
    """Count what queue and ledger hold, of a bank or of all."""
    states: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    oldest, error, failed = "", "", 0
    for row in connection.execute(
        "SELECT * FROM decision_jobs WHERE bank = coalesce(?, bank) ORDER BY id", (bank,)
    ):
        states[row["state"]] += 1
        rejected.update(_numbers(row["rejected"]))
        if row["state"] == "skipped":
            skipped[row["why"]] += 1
        elif row["state"] == "queued":
            oldest = oldest or row["queued_at"]
            failed += row["attempts"] > 0
            error = row["why"] or error
    known = ledger(connection, bank)
    waiting = sum(not one.consumed_by for one in known)
    rows = connection.execute(
        "SELECT count(*) FROM deltas WHERE bank = coalesce(?, bank)", (bank,)
    ).fetchone()[0]
    return Counts(
        queued=states["queued"],
        failed=failed,
        done=states["done"],
        waiting=waiting,
        consumed=len(known) - waiting,
        unreadable=rows - len(known),
        oldest_at=oldest,
        last_error=error,
        rejected=dict(sorted(rejected.items())),
        skipped=dict(sorted(skipped.items())),
    )


def _numbers(text: str) -> dict[str, int]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return {name: count for name, count in found.items() if type(count) is int}


# Whole banks


def banks(connection: sqlite3.Connection) -> list[str]:
    """Return every bank that a job, a delta or a bullet names."""
    rows = connection.execute(
        "SELECT bank FROM decision_jobs UNION SELECT bank FROM deltas "
        "UNION SELECT bank FROM decision_bullets ORDER BY bank"
    )
    return [row["bank"] for row in rows if row["bank"]]


def clear(connection: sqlite3.Connection, bank: str, commit: str, now: str) -> int:
    """Follow the clearing of a bank: nothing that was said before enters it; return what waited."""
    connection.execute(
        "UPDATE decision_bullets SET gone_by = ?, gone_at = ? WHERE bank = ? AND gone_by = ''",
        (commit, now, bank),
    )
    done = connection.execute(
        "UPDATE deltas SET consumed_by = ?, consumed_at = ? WHERE bank = ? AND consumed_by = ''",
        (commit, now, bank),
    )
    connection.execute(
        "UPDATE decision_jobs SET state = 'skipped', why = 'cleared', ended_at = ? "
        "WHERE bank = ? AND state = 'queued'",
        (now, bank),
    )
    return done.rowcount


def move(connection: sqlite3.Connection, bank: str, to: str) -> None:
    """Let everything that names a bank name another."""
    for table in ("decision_jobs", "deltas", "decision_bullets"):
        connection.execute(f"UPDATE {table} SET bank = ? WHERE bank = ?", (to, bank))  # noqa: S608 - constants
