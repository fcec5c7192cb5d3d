"""What was said in and before a turn that the diary may keep."""

from __future__ import annotations

import sqlite3
from typing import Final

from reflector.core.decision import Message
from reflector.store.diary import ASKED, TAKEN_BACK, Job

_WINDOW: Final = 12
_REACH: Final = 1000
"""Entries before a turn in which its window is looked for: a talk may go on for months."""


def message(connection: sqlite3.Connection, job: Job) -> str:
    """Return the text of a job's message; "" when it is gone, hidden, or not to be kept."""
    rows = connection.execute(
        "SELECT text FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE c.key = ? AND c.hidden = 0 AND message_id = ? AND canonical = 1 "
        "AND entries.hidden = 0 ORDER BY sequence",
        (job.conversation, job.message),
    )
    return "\n".join(row["text"] for row in rows)


def said_at(connection: sqlite3.Connection, job: Job) -> str:
    """Return when a job's message was written, else when it was noted (RFC 3339 UTC)."""
    row = connection.execute(
        "SELECT coalesce(nullif(entries.at, ''), diary_jobs.queued_at) AS at FROM diary_jobs "
        "LEFT JOIN entries ON entries.id = diary_jobs.entry WHERE diary_jobs.id = ?",
        (job.id,),
    ).fetchone()
    return str(row["at"]) if row else ""


def window(connection: sqlite3.Connection, job: Job, most: int = _WINDOW) -> tuple[Message, ...]:
    """Return the last messages up to a job's turn, its answer included, oldest first.

    A turn that a person took out of the record is left out, with what was answered to it.
    """
    rows = connection.execute(
        "SELECT entries.kind, entries.message_id, group_concat(text, char(10)) AS text, "
        "min(sequence) AS first FROM (SELECT e.* FROM entries AS e JOIN conversations AS c "
        "ON c.id = e.conversation WHERE c.key = ? AND c.hidden = 0 AND e.canonical = 1 "
        "AND e.hidden = 0 AND e.text <> '' AND e.sequence >= "
        "(SELECT sequence FROM entries WHERE id = ?) - ? ORDER BY sequence) AS entries "
        "GROUP BY message_id ORDER BY first",
        (job.conversation, job.entry, _REACH),
    ).fetchall()
    gone = {
        row["message"]
        for row in connection.execute(
            "SELECT message FROM diary_jobs WHERE conversation = ? AND state = 'skipped' "
            "AND why IN (?, ?)",
            (job.conversation, ASKED, TAKEN_BACK),
        )
    }
    found: list[Message] = []
    silent = ended = False
    for row in rows:
        if row["kind"] == "user":
            if ended:
                break
            silent = row["message_id"] in gone
        ended = ended or row["message_id"] == job.message
        if not silent:
            found.append(Message(row["kind"], row["text"]))
    return tuple(found[-most:]) if ended else ()
