"""Lines that a person took back: what no run may write again without being asked about it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from reflector.store.state import storable

SHOWN = 20
"""So many of the last lines are part of every payload."""

Why = Literal["undone", "rejected"]


def record(
    connection: sqlite3.Connection,
    run_id: str,
    lines: Mapping[str, Sequence[str]],
    why: Why,
    at: str,
) -> None:
    """Remember the lines of a run, by path. What is remembered already stays as it is."""
    connection.executemany(
        "INSERT INTO unwanted (run, path, line, why, at) SELECT ?1, ?2, ?3, ?4, ?5 "
        "WHERE NOT EXISTS (SELECT 1 FROM unwanted WHERE line = ?3 AND run = ?1 AND path = ?2)",
        [
            (run_id, storable(path), storable(line), why, at)
            for path, given in lines.items()
            for line in given
        ],
    )


def forget_run(connection: sqlite3.Connection, run_id: str) -> None:
    """Forget what was remembered of a run: it was not taken back after all."""
    connection.execute("DELETE FROM unwanted WHERE run = ?", (run_id,))


def forget_lines(connection: sqlite3.Connection, lines: Iterable[str]) -> None:
    """Forget lines of whatever run: a person wants them again."""
    connection.executemany("DELETE FROM unwanted WHERE line = ?", [(line,) for line in lines])


def lines(connection: sqlite3.Connection) -> frozenset[str]:
    """Return every line that is not to be written again."""
    return frozenset(row["line"] for row in connection.execute("SELECT line FROM unwanted"))


def last(connection: sqlite3.Connection, limit: int = SHOWN) -> tuple[str, ...]:
    """Return the lines that were taken back last, the newest at the end, each once."""
    rows = connection.execute(
        "SELECT line FROM unwanted GROUP BY line ORDER BY max(id) DESC LIMIT ?", (limit,)
    ).fetchall()
    return tuple(row["line"] for row in reversed(rows))


def below(connection: sqlite3.Connection, folders: Sequence[str]) -> tuple[str, ...]:
    """Return every line of documents in some folders that is not to be written again."""
    rows = connection.execute("SELECT DISTINCT path, line FROM unwanted ORDER BY line")
    found = (row["line"] for row in rows if row["path"].startswith(tuple(folders)))
    return tuple(dict.fromkeys(found))
