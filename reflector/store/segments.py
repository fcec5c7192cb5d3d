"""How far each conversation was read for experiences: cursors, what asked for more, failures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from reflector.core import backoff
from reflector.core.ambient import instant, stamp
from reflector.core.backoff import Backoff
from reflector.core.completion import Record
from reflector.core.entry import Entry
from reflector.core.snapshot import Snapshot
from reflector.store import journal
from reflector.store.scheduling import suspect_from
from reflector.store.state import storable

Asked = Literal["", "compaction", "session_end"]

# Subagents' conversations never wait: their report rides in the parent.
_WAITING = """
SELECT c.key, c.last_at, s.next_eligible_at, coalesce(s.consecutive_failures, 0) AS failures,
  coalesce(s.ended, 0) > coalesce(s.cursor, 0) AS ended,
  EXISTS (SELECT 1 FROM boundaries AS b
          WHERE b.conversation = c.id AND b.sequence > coalesce(s.cursor, 0)) AS compacted
FROM conversations AS c LEFT JOIN segments AS s ON s.conversation = c.key
WHERE c.parent IS NULL AND c.hidden = 0 AND c.last_sequence > coalesce(s.cursor, 0)
  AND EXISTS (SELECT 1 FROM entries AS e WHERE e.conversation = c.id AND e.canonical = 1
              AND e.hidden = 0 AND e.sequence > coalesce(s.cursor, 0))
ORDER BY c.id LIMIT ?
"""
_WAITS = """
SELECT 1 FROM entries AS e JOIN conversations AS c ON c.id = e.conversation
LEFT JOIN segments AS s ON s.conversation = c.key
WHERE c.key = ? AND e.sequence > coalesce(s.cursor, 0) AND e.canonical = 1 AND e.hidden = 0 LIMIT 1
"""
_TURNS = """
SELECT min(sequence) FROM (
  SELECT e.sequence FROM entries AS e JOIN conversations AS c ON c.id = e.conversation
  WHERE c.key = ? AND e.sequence < ? AND e.kind = 'user' AND e.canonical = 1 AND e.hidden = 0
  ORDER BY e.sequence DESC LIMIT ?)
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A main conversation in which something canonical was not read yet.

    `asked` is what asks for it before it is quiet, `failures` how often in a row a run failed.
    """

    conversation: str
    last_at: str
    asked: Asked = ""
    next_eligible_at: str | None = None
    failures: int = 0


def breaker(engine: str) -> str:
    """Return the name of the circuit breaker of segments that fail over what they hold.

    They must not park the engine's route for every other pipeline.
    """
    return f"{engine}/experiences"


def waiting(connection: sqlite3.Connection, limit: int = -1) -> list[Waiting]:
    """Return the conversations in which something waits, oldest first."""
    return [_waiting(row) for row in connection.execute(_WAITING, (limit,))]


def _waiting(row: sqlite3.Row) -> Waiting:
    asked: Asked = "session_end" if row["ended"] else "compaction" if row["compacted"] else ""
    return Waiting(row["key"], row["last_at"], asked, row["next_eligible_at"], row["failures"])


def oldest_at(connection: sqlite3.Connection) -> str | None:
    """Return when the oldest thing was said that waits, None when nothing does."""
    row = connection.execute(
        "SELECT min((SELECT nullif(e.at, '') FROM entries AS e WHERE e.conversation = c.id "
        "AND e.sequence > coalesce(s.cursor, 0) AND e.canonical = 1 AND e.hidden = 0 "
        "ORDER BY e.sequence LIMIT 1)) AS at "
        "FROM conversations AS c LEFT JOIN segments AS s ON s.conversation = c.key "
        "WHERE c.parent IS NULL AND c.hidden = 0 AND c.last_sequence > coalesce(s.cursor, 0)"
    ).fetchone()
    return str(row["at"]) if row["at"] else None


def cursor(connection: sqlite3.Connection, conversation: str) -> int:
    """Return the sequence of the last row that was read, 0 for none."""
    row = connection.execute(
        "SELECT cursor FROM segments WHERE conversation = ?", (storable(conversation),)
    ).fetchone()
    return row["cursor"] if row else 0


def newest(connection: sqlite3.Connection) -> int:
    """Return a number that grows with every row of the journal and every session that ends."""
    row = connection.execute(
        "SELECT coalesce(sum(last_sequence), 0) + "
        "(SELECT coalesce(sum(ended), 0) FROM segments) + (SELECT count(*) FROM boundaries) "
        "FROM conversations"
    ).fetchone()
    return int(row[0])


def cut(
    connection: sqlite3.Connection, conversation: str, max_bytes: int, after: int | None = None
) -> Snapshot | None:
    """Cut the oldest rows behind the cursor, or behind `after`; None when nothing waits there.

    What failed before is read in smaller pieces. The range is a replay: no reflection follows it.
    """
    found = journal.conversation(connection, conversation)
    if found is None or found.hidden or found.parent is not None:
        return None
    at = replace(found, cursor=cursor(connection, found.key) if after is None else after)
    whole = journal.snapshot(connection, at, max_bytes)
    if whole is None:
        return None
    suspect = record(connection, found.key).suspect
    budget = backoff.budget(suspect, whole.first_entry, max_bytes)
    less = whole if budget >= max_bytes else journal.snapshot(connection, at, budget)
    return replace(less, mode="replay") if less else None


def smallest(connection: sqlite3.Connection, taken: Snapshot) -> bool:
    """Tell whether nothing shorter can be cut from where a range begins."""
    found = journal.conversation(connection, taken.conversation)
    at = replace(found, cursor=taken.first_sequence - 1) if found else None
    least = journal.snapshot(connection, at, 1) if at else None
    return least is None or least.last_sequence >= taken.last_sequence


def turns_before(connection: sqlite3.Connection, taken: Snapshot, turns: int) -> list[Entry]:
    """Return what was said in the last turns of the user before a range, without tools."""
    key, first = taken.conversation, taken.first_sequence
    start = connection.execute(_TURNS, (key, first, turns)).fetchone()[0]
    if start is None:
        return []
    earlier = replace(taken, first_sequence=start, last_sequence=first - 1)
    return [each for each in journal.entries(connection, earlier) if each.canonical]


# Write, inside the caller's transaction


def move(connection: sqlite3.Connection, conversation: str, sequence: int) -> None:
    """Move a cursor forward to a row; one that is behind it already stays."""
    connection.execute(
        "INSERT INTO segments (conversation, cursor) VALUES (?, ?) ON CONFLICT (conversation) "
        "DO UPDATE SET cursor = max(cursor, excluded.cursor)",
        (storable(conversation), sequence),
    )


def read_again(connection: sqlite3.Connection, conversation: str) -> None:
    """Set a cursor back to the beginning: a person wants all of it read."""
    connection.execute(
        "UPDATE segments SET cursor = 0, suspect = NULL WHERE conversation = ?",
        (storable(conversation),),
    )


def session_ended(connection: sqlite3.Connection, conversation: str = "") -> None:
    """Note that a session ended with what is journaled now; without a name every session did."""
    connection.execute(
        "INSERT INTO segments (conversation, ended) SELECT key, last_sequence FROM conversations "
        "WHERE key = coalesce(nullif(?, ''), key) AND parent IS NULL "
        "ON CONFLICT (conversation) DO UPDATE SET ended = excluded.ended",
        (storable(conversation),),
    )


def caught_up(connection: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """Return the conversations of these in which nothing waits; new ones are among them."""
    return [key for key in keys if connection.execute(_WAITS, (storable(key),)).fetchone() is None]


def pass_by(connection: sqlite3.Connection, keys: Iterable[str] | None = None) -> None:
    """Move the cursors of conversations, None for all, to the end of what is journaled."""
    chosen = None if keys is None else json.dumps([storable(key) for key in keys])
    connection.execute(
        "INSERT INTO segments (conversation, cursor) SELECT key, last_sequence FROM conversations "
        "WHERE ?1 IS NULL OR key IN (SELECT value FROM json_each(?1)) "
        "ON CONFLICT (conversation) DO UPDATE SET cursor = excluded.cursor",
        (chosen,),
    )


def record(connection: sqlite3.Connection, conversation: str) -> Record:
    """Return what is remembered of a conversation's failures."""
    row = connection.execute(
        "SELECT * FROM segments WHERE conversation = ?", (storable(conversation),)
    ).fetchone()
    if row is None:
        return Record()
    until = instant(row["next_eligible_at"]) if row["next_eligible_at"] else None
    return Record(Backoff(row["consecutive_failures"], until), suspect_from(row["suspect"]))


def save_record(connection: sqlite3.Connection, conversation: str, after: Record) -> None:
    """Remember it."""
    until = after.backoff.next_eligible_at
    connection.execute(
        "INSERT INTO segments (conversation, consecutive_failures, next_eligible_at, suspect) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (conversation) DO UPDATE SET "
        "consecutive_failures = excluded.consecutive_failures, "
        "next_eligible_at = excluded.next_eligible_at, suspect = excluded.suspect",
        (
            storable(conversation),
            after.backoff.consecutive_failures,
            stamp(until) if until else None,
            json.dumps(asdict(after.suspect)) if after.suspect else None,
        ),
    )
