"""The index of a journal's entries: which terms each has, and never a word of them in order."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from reflector.core.entry import Kind
from reflector.core.sentinel import strip
from reflector.core.tokens import terms
from reflector.store.left_out import COPY
from reflector.store.recall import UnusableError
from reflector.store.recall_memory import match

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE read_to (
  conversation TEXT PRIMARY KEY, sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE spoken (
  id INTEGER PRIMARY KEY,
  entry TEXT NOT NULL UNIQUE,
  conversation TEXT NOT NULL,
  kind TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE found USING fts5 (text, content='', tokenize="ascii tokenchars '.'");
"""
# The texts stay in the journal, where each hit is looked up again: what was hidden, aged out or
# forgotten since is not found, however old the index is.

_SEARCHED = (Kind.USER.value, Kind.ASSISTANT.value, Kind.TOOL_CALL.value, Kind.ERROR.value)
MOST_TERMS = 32
"""So many terms of a query are asked for: the first."""

_FIND = """
SELECT entry, -bm25(found) AS score FROM found JOIN spoken ON spoken.id = found.rowid
WHERE found MATCH ?1 AND (?2 = '' OR conversation = ?2) AND (?3 = '' OR kind = ?3) AND at >= ?4
ORDER BY score DESC, at DESC, spoken.id DESC
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which entries may be found: of a conversation, of a kind, said since; "" is any."""

    conversation: str = ""
    kind: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """An entry that was found; `text` is all that is searched of it."""

    entry: str
    conversation: str
    kind: str
    text: str
    score: float
    at: str


def behind(index: sqlite3.Connection, journal: sqlite3.Connection, source: str) -> bool:
    """Tell whether the journal has entries that the index has not; `source` tells journals apart.

    Raises UnusableError when the index is of another journal, or has what was taken out of this
    one.
    """
    facts = {row["name"]: row["value"] for row in index.execute("SELECT * FROM facts")}
    if facts.get("source") != source:
        raise UnusableError("it is of another journal")
    if facts.get("left_out") != _left_out(journal):
        if _holds_left_out(index, journal):
            raise UnusableError("it holds what was taken out of the journal")
        return True
    return any(True for _ in _waiting(index, journal))


def catch_up(index: sqlite3.Connection, journal: sqlite3.Connection, source: str) -> None:
    """Add what the journal has since the index was last written; the caller's transaction writes."""
    journal.execute("BEGIN")  # one moment of the journal, whoever writes to it meanwhile
    try:
        _catch_up(index, journal, source)
    finally:
        journal.execute("ROLLBACK")


def _catch_up(index: sqlite3.Connection, journal: sqlite3.Connection, source: str) -> None:
    for name, value in (("source", source), ("left_out", _left_out(journal))):
        index.execute(
            "INSERT INTO facts (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )
    for row, key, after, last in list(_waiting(index, journal)):
        for entry in journal.execute(
            "SELECT * FROM entries WHERE conversation = ? AND sequence > ? AND sequence <= ? "
            "AND hidden = 0 ORDER BY sequence",
            (row, after, last),
        ):
            _add(index, key, entry)
        index.execute(
            "INSERT INTO read_to (conversation, sequence) VALUES (?, ?) "
            "ON CONFLICT (conversation) DO UPDATE SET sequence = excluded.sequence",
            (key, last),
        )


def find(
    index: sqlite3.Connection,
    journal: sqlite3.Connection,
    wanted: Collection[str],
    only: Asked,
    limit: int,
) -> list[Said]:
    """Return the entries with the most telling of the wanted terms, the best first."""
    if not wanted:
        return []
    found: list[Said] = []
    values = (match(wanted), only.conversation, only.kind, only.since)
    for hit in index.execute(_FIND, values):
        row = journal.execute(
            "SELECT entries.*, c.key FROM entries JOIN conversations AS c ON c.id = conversation "
            "WHERE entries.id = ? AND entries.hidden = 0 AND c.hidden = 0",
            (hit["entry"],),
        ).fetchone()
        if row is not None and (text := searched(row)):
            found.append(Said(row["id"], row["key"], row["kind"], text, hit["score"], row["at"]))
        if len(found) >= limit:
            break
    return found


def searched(row: sqlite3.Row) -> str:
    """Return what of an entry is searched: what was said, or a tool with its words and answer."""
    if row["kind"] not in _SEARCHED:
        return ""
    typed = row["kind"] != Kind.TOOL_CALL.value
    parts = (row["tool"], row["arguments"], row["result"], row["text"])
    # Capture has taken injected memory out; entries of an older version may still hold some.
    return "\n".join(strip(part, typed=typed) for part in parts if part).strip()


def _add(index: sqlite3.Connection, conversation: str, entry: sqlite3.Row) -> None:
    text = " ".join(dict.fromkeys(terms(searched(entry))))
    if not text:
        return
    made = index.execute(
        "INSERT INTO spoken (entry, conversation, kind, at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (entry) DO NOTHING",
        (entry["id"], conversation, entry["kind"], entry["at"]),
    )
    if made.rowcount == 1:
        index.execute("INSERT INTO found (rowid, text) VALUES (?, ?)", (made.lastrowid, text))


def _waiting(
    index: sqlite3.Connection, journal: sqlite3.Connection
) -> Iterator[tuple[int, str, int, int]]:
    """Yield each conversation with entries to read: its row, key, and both ends of the range."""
    known = {row["conversation"]: row["sequence"] for row in index.execute("SELECT * FROM read_to")}
    for row in journal.execute("SELECT id, key, last_sequence FROM conversations WHERE hidden = 0"):
        after = known.get(row["key"], 0)
        if row["last_sequence"] < after:
            raise UnusableError("it is of another journal")
        if row["last_sequence"] > after:
            yield row["id"], row["key"], after, row["last_sequence"]


def _left_out(journal: sqlite3.Connection) -> str:
    row = journal.execute("SELECT count(*) FROM left_out WHERE why <> ?", (COPY,)).fetchone()
    return str(row[0])


def _holds_left_out(index: sqlite3.Connection, journal: sqlite3.Connection) -> bool:
    """Tell whether an entry that was taken out of the journal is still in the index."""
    noted = journal.execute("SELECT entry FROM left_out WHERE why <> ?", (COPY,))
    return any(
        index.execute("SELECT 1 FROM spoken WHERE entry = ?", (row["entry"],)).fetchone()
        for row in noted
    )
