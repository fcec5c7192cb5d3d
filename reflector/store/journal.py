"""The journal: entries appended once, counters, cursors, and the snapshots that runs read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.core.snapshot import Mode, Row, Snapshot, cut
from reflector.store.state import State, storable

_FROM_CURSOR = """
SELECT sequence, id, canonical, size,
  (SELECT max(sequence) FROM entries AS mate
   WHERE mate.conversation = entries.conversation AND mate.message_id = entries.message_id
     AND mate.hidden = 0) AS group_end
FROM entries WHERE conversation = ? AND sequence > ? AND hidden = 0 ORDER BY sequence
"""

_REPLAY_START = """
SELECT min(sequence) FROM (
  SELECT sequence FROM entries WHERE conversation = ? AND step = 1 AND hidden = 0
  ORDER BY sequence DESC LIMIT ?)
"""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's row: what it is, its counters and its cursor (a sequence, 0 = none)."""

    row: int
    key: str
    harness: str
    parent: str | None
    cwd: str
    title: str
    headless: bool
    cursor: int
    total_steps: int
    reflected_steps: int
    unreflected_bytes: int
    pending_compaction: str | None
    next_eligible_at: str | None
    last_at: str
    hidden: bool

    @property
    def steps_since_reflection(self) -> int:
        """Return the steps behind the cursor."""
        return self.total_steps - self.reflected_steps


def conversation(connection: sqlite3.Connection, key: str) -> Conversation | None:
    """Return the conversation with this public id."""
    row = connection.execute(
        "SELECT * FROM conversations WHERE key = ?", (storable(key),)
    ).fetchone()
    return _conversation(row) if row else None


def conversations(connection: sqlite3.Connection) -> list[Conversation]:
    """Return all conversations, oldest first."""
    rows = connection.execute("SELECT * FROM conversations ORDER BY id")
    return [_conversation(row) for row in rows]


def _conversation(row: sqlite3.Row) -> Conversation:
    return Conversation(
        row=row["id"],
        key=row["key"],
        harness=row["harness"],
        parent=row["parent"],
        cwd=row["cwd"],
        title=row["title"],
        headless=bool(row["headless"]),
        cursor=row["cursor"],
        total_steps=row["total_steps"],
        reflected_steps=row["reflected_steps"],
        unreflected_bytes=row["unreflected_bytes"],
        pending_compaction=row["pending_compaction"],
        next_eligible_at=row["next_eligible_at"],
        last_at=row["last_at"],
        hidden=bool(row["hidden"]),
    )


class Appender:
    """Adds entries to the journal inside one open transaction, in O(new rows)."""

    def __init__(self, connection: sqlite3.Connection, now: str) -> None:
        """Write through this connection, whose transaction the caller holds."""
        self._connection = connection
        self._now = now
        self._rows: dict[ConversationKey, int] = {}

    def conversation(self, key: ConversationKey, parent: ConversationKey | None) -> int:
        """Return the row of a conversation, made when it is new."""
        if parent is None and key.agent:
            parent = ConversationKey(key.harness, key.session)
        if key not in self._rows:
            self._connection.execute(
                "INSERT INTO conversations (key, harness, session, agent, parent) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (str(key), key.harness, key.session, key.agent, str(parent) if parent else None),
            )
            found = self._connection.execute(
                "SELECT id FROM conversations WHERE key = ?", (str(key),)
            ).fetchone()
            self._rows[key] = found["id"]
        return self._rows[key]

    def describe(self, row: int, *, cwd: str, title: str, headless: bool) -> None:
        """Note what became known of a conversation; empty values change nothing."""
        self._connection.execute(
            "UPDATE conversations SET cwd = CASE WHEN cwd = '' THEN ? ELSE cwd END, "
            "title = CASE WHEN ? = '' THEN title ELSE ? END, headless = max(headless, ?) "
            "WHERE id = ?",
            (storable(cwd), storable(title), storable(title), headless, row),
        )

    def append(self, row: int, entry: Entry) -> bool:
        """Add a captured entry; tell whether it was new. A replay adds and counts nothing."""
        step = self._begins_step(row, entry)
        size = entry.size
        done = self._connection.execute(
            "INSERT INTO entries (conversation, sequence, id, message_id, kind, canonical, step, "
            "text, tool, arguments, result, at, size) "
            "SELECT ?, last_sequence + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM conversations "
            "WHERE id = ? ON CONFLICT (id) DO NOTHING",
            (
                row,
                entry.id,
                entry.message_id,
                entry.kind.value,
                entry.canonical,
                step,
                entry.text,
                entry.tool,
                entry.arguments,
                entry.result,
                entry.at or self._now,
                size,
                row,
            ),
        )
        if done.rowcount != 1:
            return False
        self._connection.execute(
            "UPDATE conversations SET last_sequence = last_sequence + 1, "
            "total_steps = total_steps + ?, unreflected_bytes = unreflected_bytes + ?, "
            "last_at = max(last_at, ?) WHERE id = ?",
            (step, size, entry.at or self._now, row),
        )
        return True

    def _begins_step(self, row: int, entry: Entry) -> bool:
        if entry.kind is not Kind.ASSISTANT or not entry.canonical:
            return False
        known = self._connection.execute(
            "SELECT 1 FROM entries WHERE conversation = ? AND message_id = ? AND step = 1 "
            "AND hidden = 0",
            (row, entry.message_id),
        )
        return known.fetchone() is None

    def mark_boundary(self, row: int, record: str) -> None:
        """Mark a conversation as compacted; the same boundary counts once."""
        done = self._connection.execute(
            "INSERT INTO boundaries (conversation, record, sequence) "
            "SELECT id, ?, last_sequence FROM conversations WHERE id = ? ON CONFLICT DO NOTHING",
            (record, row),
        )
        if done.rowcount == 1:
            self._connection.execute(
                "UPDATE conversations SET pending_compaction = ? WHERE id = ? "
                "AND cursor < last_sequence",
                (record, row),
            )

    def hide_newest_assistant(self, row: int, message_id: str = "") -> None:
        """Hide the newest assistant message, and take it out of the counters.

        With a `message_id` only that message: reading a file again repeats what it retracted, and
        must not take the next message for it.
        """
        mine = (row, message_id or self._newest_assistant(row))
        self._connection.execute(
            "UPDATE conversations SET (total_steps, reflected_steps, unreflected_bytes) = ("
            " SELECT conversations.total_steps - coalesce(sum(e.step), 0),"
            "  conversations.reflected_steps - coalesce(sum("
            "   CASE WHEN e.sequence <= conversations.cursor THEN e.step ELSE 0 END), 0),"
            "  conversations.unreflected_bytes - coalesce(sum("
            "   CASE WHEN e.sequence > conversations.cursor THEN e.size ELSE 0 END), 0)"
            " FROM entries AS e WHERE e.conversation = ?1 AND e.message_id = ?2 AND e.hidden = 0)"
            " WHERE id = ?1",
            mine,
        )
        self._connection.execute(
            "UPDATE entries SET hidden = 1 WHERE conversation = ? AND message_id = ?", mine
        )

    def _newest_assistant(self, row: int) -> str | None:
        newest = self._connection.execute(
            "SELECT message_id FROM entries WHERE conversation = ? AND kind = 'assistant' "
            "AND hidden = 0 ORDER BY sequence DESC LIMIT 1",
            (row,),
        ).fetchone()
        return newest["message_id"] if newest else None


def snapshot(
    connection: sqlite3.Connection, which: Conversation, max_bytes: int
) -> Snapshot | None:
    """Cut the oldest rows behind the cursor; None when nothing canonical waits there."""
    return _snapshot(connection, which, which.cursor, max_bytes, "advance")


def replay(
    connection: sqlite3.Connection, which: Conversation, steps: int, max_bytes: int
) -> Snapshot | None:
    """Cut the last `steps` steps again; never moves a cursor."""
    first = connection.execute(_REPLAY_START, (which.row, steps)).fetchone()[0]
    if first is None:
        return None
    return _snapshot(connection, which, first - 1, max_bytes, "replay")


def _snapshot(
    connection: sqlite3.Connection, which: Conversation, after: int, max_bytes: int, mode: Mode
) -> Snapshot | None:
    taken = cut(_rows(connection.execute(_FROM_CURSOR, (which.row, after))), max_bytes)
    if taken is None:
        return None
    left = connection.execute(
        "SELECT count(*) FROM entries WHERE conversation = ? AND sequence > ? AND hidden = 0",
        (which.row, taken.last.sequence),
    ).fetchone()[0]
    return Snapshot(
        conversation=which.key,
        first_sequence=taken.first.sequence,
        last_sequence=taken.last.sequence,
        first_entry=taken.first.entry,
        last_entry=taken.last.entry,
        entries=taken.entries,
        size=taken.size,
        backlog_remaining=left,
        mode=mode,
    )


def _rows(cursor: Iterable[sqlite3.Row]) -> Iterator[Row]:
    for row in cursor:
        yield Row(
            sequence=row["sequence"],
            entry=row["id"],
            group_end=row["group_end"],
            canonical=bool(row["canonical"]),
            size=row["size"],
        )


def backlog(
    connection: sqlite3.Connection, only: Sequence[str] | None, blocked: Iterable[str]
) -> list[Conversation]:
    """Return the main conversations that a run may read: not hidden, not blocked.

    Subagents are never reflected by themselves: their report rides in the parent.
    """
    left_out = set(blocked)
    return [
        each
        for each in conversations(connection)
        if each.parent is None
        and not each.hidden
        and each.key not in left_out
        and (only is None or each.key in only)
    ]


def entries(connection: sqlite3.Connection, taken: Snapshot) -> list[Entry]:
    """Return the entries of a snapshot, in order. Hidden rows are left out."""
    rows = connection.execute(
        "SELECT entries.* FROM entries JOIN conversations ON conversations.id = conversation "
        "WHERE key = ? AND sequence BETWEEN ? AND ? AND entries.hidden = 0 ORDER BY sequence",
        (taken.conversation, taken.first_sequence, taken.last_sequence),
    )
    return [_entry(row) for row in rows]


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        id=row["id"],
        message_id=row["message_id"],
        kind=Kind(row["kind"]),
        text=row["text"],
        tool=row["tool"],
        arguments=row["arguments"],
        result=row["result"],
        at=row["at"],
    )


def consume(connection: sqlite3.Connection, taken: Snapshot) -> None:
    """Move the cursor exactly to the end of a snapshot, and the counters with it.

    Rows appended meanwhile stay pending. A replay, or a cursor that is already past the range,
    changes nothing.
    """
    if taken.mode == "advance":
        _move(connection, taken.conversation, taken.last_sequence)


def _move(connection: sqlite3.Connection, conversation: str, sequence: int) -> None:
    connection.execute(
        "UPDATE conversations SET (reflected_steps, unreflected_bytes) = ("
        " SELECT conversations.reflected_steps + coalesce(sum(e.step), 0),"
        "  conversations.unreflected_bytes - coalesce(sum(e.size), 0)"
        " FROM entries AS e WHERE e.conversation = conversations.id AND e.hidden = 0"
        "  AND e.sequence > conversations.cursor AND e.sequence <= ?1),"
        " cursor = ?1,"
        " pending_compaction = CASE WHEN (SELECT b.sequence FROM boundaries AS b"
        "  WHERE b.conversation = conversations.id AND b.record = pending_compaction) <= ?1"
        "  THEN NULL ELSE pending_compaction END,"
        " consecutive_failures = 0, next_eligible_at = NULL"
        " WHERE key = ?2 AND cursor < ?1",
        (sequence, conversation),
    )


def pass_entry(connection: sqlite3.Connection, conversation: str, entry: str) -> None:
    """Move a cursor behind an entry, if it is known and not behind it already."""
    row = connection.execute(
        "SELECT sequence FROM entries JOIN conversations ON conversations.id = conversation "
        "WHERE key = ? AND entries.id = ?",
        (conversation, entry),
    ).fetchone()
    if row is not None:
        _move(connection, conversation, row["sequence"])


def add_redactions(connection: sqlite3.Connection, rule: str, count: int) -> None:
    """Count secrets that capture replaced, by rule."""
    connection.execute(
        "INSERT INTO redactions (rule, count) VALUES (?, ?) "
        "ON CONFLICT (rule) DO UPDATE SET count = count + excluded.count",
        (rule, count),
    )


def count(state: State) -> int:
    """Return how many entries the journal holds."""
    found: int = state.connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    return found


def age_out(connection: sqlite3.Connection, before: str) -> int:
    """Empty the texts of entries that the cursor has passed and that are older than `before`."""
    done = connection.execute(
        "UPDATE entries SET text = '', arguments = '', result = NULL "
        "WHERE at < ? AND (text <> '' OR arguments <> '' OR result IS NOT NULL) "
        "AND sequence <= (SELECT cursor FROM conversations "
        "                 WHERE conversations.id = entries.conversation)",
        (before,),
    )
    return done.rowcount
