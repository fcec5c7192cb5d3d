"""Which items of the memory were recalled for an agent, in which session, on which day."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_ITEMS = ("experiences/", "facts/")

_OF_ALL = """
SELECT path, max(day) AS day,
  count(DISTINCT CASE WHEN session = '' THEN 'day ' || day ELSE session END) AS sessions
FROM recall_uses GROUP BY path
"""
# Whoever serves an agent does not always know its session: there, a day counts as one.


@dataclass(frozen=True, slots=True)
class Use:
    """In how many sessions an item was recalled, and the last day it was (UTC, `2026-11-30`)."""

    sessions: int
    last: str


def is_item(path: str) -> bool:
    """Tell whether a path is of an experience or a fact."""
    return path.startswith(_ITEMS)


def note(connection: sqlite3.Connection, paths: Iterable[str], session: str, at: str) -> None:
    """Note that items were recalled at an instant; what is no item is left out.

    `session` is "" when nobody knows it. The caller's transaction writes.
    """
    day = at[:10]
    connection.executemany(
        "INSERT OR IGNORE INTO recall_uses (path, session, day) VALUES (?, ?, ?)",
        [(path, session, day) for path in paths if is_item(path)],
    )


def uses(connection: sqlite3.Connection) -> Mapping[str, Use]:
    """Return how often each item was recalled; those that never were are not in it."""
    rows = connection.execute(_OF_ALL)
    return {row["path"]: Use(row["sessions"], row["day"]) for row in rows}


def forget(connection: sqlite3.Connection, path: str = "", session: str = "") -> None:
    """Forget the uses of an item, or those in a session; the caller's transaction writes."""
    if path:
        connection.execute("DELETE FROM recall_uses WHERE path = ?", (path,))
    if session:
        connection.execute("DELETE FROM recall_uses WHERE session = ?", (session,))
