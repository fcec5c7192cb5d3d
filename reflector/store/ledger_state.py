"""What waits in the ledger of decisions, told in a query or two: for whoever asks very often."""

from __future__ import annotations

import sqlite3


def any_waiting(connection: sqlite3.Connection) -> bool:
    """Tell whether a delta waits that no run has consumed."""
    row = connection.execute("SELECT 1 FROM deltas WHERE consumed_by = '' LIMIT 1").fetchone()
    return row is not None


def fingerprint(connection: sqlite3.Connection) -> str:
    """Return a word that changes with what waits and with what was written."""
    waiting = connection.execute(
        "SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0) FROM deltas "
        "WHERE consumed_by = ''"
    ).fetchone()
    told = connection.execute(
        "SELECT count(*), coalesce(max(id), 0), coalesce(sum(gone_by <> ''), 0) "
        "FROM decision_bullets"
    ).fetchone()
    return "/".join(map(str, (*waiting, *told)))
