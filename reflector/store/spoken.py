"""What was said around a message: its text, and the nearest texts of both sides before it."""

from __future__ import annotations

import sqlite3

from reflector.core.decision import Message


def exchange(
    connection: sqlite3.Connection, conversation: str, message: str
) -> tuple[Message, ...]:
    """Return a user message with the nearest user and assistant texts before it, in order.

    The message itself comes last. Empty when it is not there, hidden, or its text was aged out.
    """
    own = _texts(connection, conversation, message)
    if not own:
        return ()
    before = [
        _nearest(connection, conversation, kind, own[0]["sequence"])
        for kind in ("user", "assistant")
    ]
    found = sorted((each for each in before if each), key=lambda each: each[0]["sequence"])
    return tuple(
        Message(rows[0]["kind"], "\n".join(row["text"] for row in rows)) for rows in (*found, own)
    )


def _texts(
    connection: sqlite3.Connection, conversation: str, message: str, before: int = 1 << 62
) -> list[sqlite3.Row]:
    return connection.execute(
        "SELECT sequence, kind, text FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE c.key = ? AND message_id = ? AND canonical = 1 AND entries.hidden = 0 "
        "AND text <> '' AND sequence < ? ORDER BY sequence",
        (conversation, message, before),
    ).fetchall()


def _nearest(
    connection: sqlite3.Connection, conversation: str, kind: str, before: int
) -> list[sqlite3.Row]:
    row = connection.execute(
        "SELECT message_id FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE c.key = ? AND kind = ? AND canonical = 1 AND entries.hidden = 0 AND text <> '' "
        "AND sequence < ? ORDER BY sequence DESC LIMIT 1",
        (conversation, kind, before),
    ).fetchone()
    if row is None:
        return []
    return _texts(connection, conversation, row["message_id"], before)
