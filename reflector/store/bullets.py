"""The bullets that deltas became: what was ever written to a bank, what took its place, what went."""

from __future__ import annotations

import json
import sqlite3

from reflector.core.decision import FILES, Told
from reflector.store.state import storable


def record(connection: sqlite3.Connection, told: Told, old: str = "") -> int:
    """Remember a bullet that was written, and which one it took the place of; return its id.

    The id of `told` does not count. With no text it only remembers that the old one went.
    """
    connection.execute(
        "UPDATE decision_bullets SET gone_by = ?1, gone_at = ?2, instead = ?3 WHERE bank = ?4 "
        "AND text = ?5 AND gone_by = ''",
        (told.run, told.at, storable(told.text), told.bank, storable(old)),
    )
    if not told.text:
        return 0
    done = connection.execute(
        "INSERT INTO decision_bullets (bank, file, text, deltas, run, at) VALUES (?, ?, ?, ?, ?, ?)",
        (told.bank, told.file, storable(told.text), json.dumps(told.deltas), told.run, told.at),
    )
    return int(done.lastrowid or 0)


def every(connection: sqlite3.Connection, bank: str) -> list[Told]:
    """Return every bullet that was ever written to a bank, those that went as superseded."""
    rows = connection.execute("SELECT * FROM decision_bullets WHERE bank = ? ORDER BY id", (bank,))
    return [found for row in rows if (found := _told(row))]


def take_back(connection: sqlite3.Connection, run_id: str, now: str) -> None:
    """Follow the undoing of a run: what it wrote went, what it took away is there again."""
    connection.execute(
        "UPDATE decision_bullets SET gone_by = '', gone_at = '', instead = '' WHERE gone_by = ?",
        (run_id,),
    )
    connection.execute(
        "UPDATE decision_bullets SET gone_by = 'undo', gone_at = ?2 WHERE run = ?1 "
        "AND gone_by = ''",
        (run_id, now),
    )


def _told(row: sqlite3.Row) -> Told | None:
    file = next((each for each in FILES if each == row["file"]), None)
    try:
        ids = json.loads(row["deltas"])
    except ValueError:
        return None
    if file is None or not isinstance(ids, list) or not all(type(each) is int for each in ids):
        return None
    return Told(
        id=row["id"],
        bank=row["bank"],
        file=file,
        text=row["text"],
        deltas=tuple(ids),
        run=row["run"],
        at=row["at"],
        superseded=row["gone_by"] != "",
        instead=row["instead"],
    )
