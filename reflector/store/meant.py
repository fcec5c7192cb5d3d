"""Which conversation is meant: the one that a person spoke in last, or that of a harness's session."""

from __future__ import annotations

import sqlite3

from reflector.store.state import storable


def conversation(connection: sqlite3.Connection) -> str:
    """Return the main conversation with the newest message of a person, "" when there is none."""
    row = connection.execute(
        "SELECT c.key FROM entries JOIN conversations AS c ON c.id = conversation "
        "WHERE kind = 'user' AND canonical = 1 AND entries.hidden = 0 AND c.hidden = 0 "
        "AND c.parent IS NULL ORDER BY entries.at DESC, entries.rowid DESC LIMIT 1"
    ).fetchone()
    return str(row["key"]) if row else ""


def of_session(connection: sqlite3.Connection, session: str) -> str:
    """Return the main conversation that a harness calls so, the newest of several; "" for none."""
    row = connection.execute(
        "SELECT key FROM conversations WHERE session = ? AND parent IS NULL ORDER BY id DESC "
        "LIMIT 1",
        (storable(session),),
    ).fetchone()
    return str(row["key"]) if row else ""
