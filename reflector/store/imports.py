"""What an import of old conversations passed by: cursors set to the end, and the ranges noted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from reflector.store import journal, scheduling
from reflector.store.journal import Conversation
from reflector.store.state import storable, translated

_MARK = "passed_by/"
_WAITS = (
    "SELECT 1 FROM entries JOIN conversations AS c ON c.id = conversation WHERE c.key = ? "
    "AND sequence > c.cursor AND entries.hidden = 0 AND canonical = 1 LIMIT 1"
)

_NEXT = (
    "SELECT sequence, id FROM entries WHERE conversation = ? AND sequence > ? "
    "ORDER BY sequence LIMIT 1"
)
_LAST = "SELECT sequence, id FROM entries WHERE conversation = ? ORDER BY sequence DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Range:
    """Rows of a conversation that no run read, by sequence and by entry id; both ends count.

    `at` is when the last of them were imported.
    """

    first_sequence: int
    last_sequence: int
    first_entry: str
    last_entry: str
    at: str


def caught_up(connection: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """Return the conversations without a backlog of their own; new ones have none."""
    return [key for key in keys if connection.execute(_WAITS, (storable(key),)).fetchone() is None]


def pass_by(connection: sqlite3.Connection, keys: Iterable[str], now: str) -> None:
    """Set cursors to the end of what is journaled, and note what no run has read.

    To be called in the transaction that appended the rows: a crash in between would leave a
    backlog that looks like the conversation's own.
    """
    for key in keys:
        known = journal.conversation(connection, key)
        new = _behind(connection, known, now) if known else None
        if new is None:
            continue
        before = ranges(connection, key)
        if before and before[-1].last_sequence + 1 == new.first_sequence:
            last = before.pop()
            new = replace(new, first_sequence=last.first_sequence, first_entry=last.first_entry)
        _note(connection, key, (*before, new))
        journal.pass_entry(connection, storable(key), new.last_entry)


def _behind(connection: sqlite3.Connection, known: Conversation, now: str) -> Range | None:
    last = connection.execute(_LAST, (known.row,)).fetchone()
    first = connection.execute(_NEXT, (known.row, known.cursor)).fetchone()
    if first is None:
        return None
    return Range(first["sequence"], last["sequence"], first["id"], last["id"], now)


def ranges(connection: sqlite3.Connection, key: str) -> list[Range]:
    """Return what was passed by in a conversation, oldest first."""
    return parsed(scheduling.mark(connection, _MARK + storable(key)) or "[]")


def noted(connection: sqlite3.Connection) -> dict[str, list[Range]]:
    """Return what was passed by in every conversation, by its public id."""
    rows = connection.execute(
        "SELECT name, value FROM marks WHERE name >= ? AND name < ? ORDER BY name",
        (_MARK, _MARK[:-1] + "0"),
    ).fetchall()
    return {name.removeprefix(_MARK): parsed(value) for name, value in rows}


def parsed(value: str) -> list[Range]:
    """Return the ranges of a mark. Raises ValueError, TypeError for what was never one."""
    return [Range(**each) for each in json.loads(value)]


def pass_again(connection: sqlite3.Connection, key: str, lost: Iterable[Range]) -> bool:
    """Note again what a lost journal had passed by, and move the cursor behind it.

    Rows are found by their ids: read again, they may have other sequences. Tells whether all of
    them are in the journal; a range whose end is not there is left out.
    """
    before = ranges(connection, key)
    found = [_found(connection, key, each) for each in lost]
    here = {each.last_entry: each for each in (*before, *filter(None, found))}
    if here:
        again = sorted(here.values(), key=lambda each: each.first_sequence)
        _note(connection, key, again)
        journal.pass_entry(connection, storable(key), again[-1].last_entry)
    return None not in found


def _found(connection: sqlite3.Connection, key: str, lost: Range) -> Range | None:
    rows = connection.execute(
        "SELECT min(sequence), max(sequence), count(*) FROM entries "
        "JOIN conversations AS c ON c.id = conversation "
        "WHERE c.key = ? AND entries.id IN (?, ?)",
        (storable(key), lost.first_entry, lost.last_entry),
    ).fetchone()
    if rows[2] != len({lost.first_entry, lost.last_entry}):
        return None
    return replace(lost, first_sequence=rows[0], last_sequence=rows[1])


def _note(connection: sqlite3.Connection, key: str, passed: Iterable[Range]) -> None:
    value = json.dumps([asdict(each) for each in passed])
    scheduling.set_mark(connection, _MARK + storable(key), value)


def passed_by(connection: sqlite3.Connection, since: str) -> tuple[int, int]:
    """Return how many conversations were passed by since then, and how many of their entries."""
    late = [[each for each in told if each.at >= since] for told in noted(connection).values()]
    entries = [each.last_sequence - each.first_sequence + 1 for told in late for each in told]
    return sum(map(bool, late)), sum(entries)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a source, as far as a look at its file can tell whether it changed."""

    device: int
    inode: int
    size: int
    resume_at: int
    read_to: int
    degraded: bool
    read_at: str


def known(connection: sqlite3.Connection) -> dict[str, Known]:
    """Return every source by its name."""
    rows = connection.execute(
        "SELECT path, device, inode, size, resume_at, read_to, degraded <> '', read_at FROM sources"
    )
    return {
        row[0]: Known(row[1], row[2], row[3], row[4], row[5], bool(row[6]), row[7]) for row in rows
    }


def glimpsed(path: Path) -> dict[str, Known]:
    """Return every source of a database that is neither made, migrated nor written to.

    Even opening one for reading makes files beside it, unless it is told that nobody writes;
    somebody may, exactly when its log exists.
    """
    if not path.exists():
        return {}
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as connection:
            return known(connection)
    except sqlite3.Error as error:
        raise translated(error, path) from error
