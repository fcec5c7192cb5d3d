"""What was kept out of the journal: the ids of entries, never a word of them, and whole turns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from reflector.store.state import storable

COPY = "copy"
"""Why an entry is noted that was not left out: it belongs to the conversation it was copied from."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a conversation stands: its present folder, and since when it is silent ("" = it is not).

    `known` tells whether it is in the journal, `gaps` whether anything of it was ever left out,
    `forgotten` whether a person had all of it forgotten.
    """

    known: bool = False
    here: str = ""
    headless: bool = False
    silent_since: str = ""
    gaps: bool = False
    forgotten: bool = False


def standing(connection: sqlite3.Connection, conversation: str) -> Standing:
    """Return how a conversation stood when it was last read."""
    row = connection.execute(
        "SELECT cwd, here, headless, hidden FROM conversations WHERE key = ?", (conversation,)
    ).fetchone()
    silence = connection.execute(
        "SELECT since FROM silences WHERE conversation = ? AND until = ''", (conversation,)
    ).fetchone()
    gaps = connection.execute(
        "SELECT 1 FROM left_out WHERE conversation = ? AND why <> ? LIMIT 1", (conversation, COPY)
    ).fetchone()
    return Standing(
        known=row is not None,
        here=(row["here"] or row["cwd"]) if row else "",
        headless=bool(row and row["headless"]),
        silent_since=silence["since"] if silence else "",
        gaps=gaps is not None,
        forgotten=bool(row and row["hidden"]),
    )


def moved(connection: sqlite3.Connection, conversation: str, here: str) -> None:
    """Note the present folder of a conversation that is in the journal."""
    connection.execute(
        "UPDATE conversations SET here = ?1 WHERE key = ?2 AND here <> ?1",
        (storable(here), conversation),
    )


def anything(connection: sqlite3.Connection) -> bool:
    """Tell whether anything was ever left out; most people never leave anything out."""
    return connection.execute("SELECT 1 FROM left_out LIMIT 1").fetchone() is not None


def seen_in(connection: sqlite3.Connection, entry: str) -> set[str]:
    """Return the conversations in which this entry was seen, recorded or not."""
    rows = connection.execute(
        "SELECT key FROM entries JOIN conversations ON conversations.id = conversation "
        "WHERE entries.id = ?1 UNION SELECT conversation FROM left_out WHERE entry = ?1",
        (entry,),
    )
    return {row["key"] for row in rows}


def recorded_in(connection: sqlite3.Connection, entry: str) -> str:
    """Return the conversation in which an entry is recorded, "" if it is not."""
    row = connection.execute(
        "SELECT key FROM entries JOIN conversations ON conversations.id = conversation "
        "WHERE entries.id = ?",
        (entry,),
    ).fetchone()
    return row["key"] if row else ""


def why(connection: sqlite3.Connection, entry: str) -> str:
    """Return why an entry was left out before, in whatever conversation; "" if it was not."""
    row = connection.execute(
        "SELECT why FROM left_out WHERE entry = ? AND why <> ? LIMIT 1", (entry, COPY)
    ).fetchone()
    return row["why"] if row else ""


def note(connection: sqlite3.Connection, which: Iterable[tuple[str, str, str]]) -> None:
    """Note (conversation, entry, why): these stay out however often they are read again."""
    connection.executemany(
        "INSERT INTO left_out (conversation, entry, why) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        which,
    )


def silence(connection: sqlite3.Connection, conversation: str, since: str, until: str = "") -> None:
    """Note that everything of a conversation is left out in this time; "" = from now on."""
    connection.execute(
        "INSERT INTO silences (conversation, since, until) VALUES (?, ?, ?)",
        (conversation, since, until),
    )


def speak(connection: sqlite3.Connection, conversation: str, until: str) -> None:
    """End the silence of a conversation."""
    connection.execute(
        "UPDATE silences SET until = max(since, ?) WHERE conversation = ? AND until = ''",
        (until, conversation),
    )


def silent_at(connection: sqlite3.Connection, conversation: str, at: str) -> bool:
    """Tell whether a conversation was silent at a time ("" = now)."""
    row = connection.execute(
        "SELECT 1 FROM silences WHERE conversation = ?1 AND "
        "((since <= ?2 AND until > ?2) OR (until = '' AND (?2 = '' OR since <= ?2))) LIMIT 1",
        (conversation, at),
    ).fetchone()
    return row is not None


def purge(connection: sqlite3.Connection, conversation: str) -> bool:
    """Empty and hide what subagents said for a turn in which their parent was silent.

    Tell whether there was any.

    Their files may have been read before the parent's said that the turn is off the record.
    """
    children = connection.execute(
        "SELECT id, key, cursor FROM conversations WHERE parent = ?", (conversation,)
    ).fetchall()
    emptied = False
    for child in children:
        said = connection.execute(
            "SELECT id, sequence, kind, at, size, step FROM entries "
            "WHERE conversation = ? AND hidden = 0 ORDER BY sequence",
            (child["id"],),
        ).fetchall()
        asked = ""  # since when it works for a turn that is off the record
        for row in said:
            inside = silent_at(connection, conversation, row["at"])
            if row["kind"] == "user":
                asked = row["at"] if inside else ""
            if inside or asked:
                _empty(connection, child, row)
                emptied = True
        if asked:
            silence(connection, child["key"], asked)
    return emptied


def _empty(connection: sqlite3.Connection, child: sqlite3.Row, row: sqlite3.Row) -> None:
    connection.execute(
        "UPDATE entries SET hidden = 1, text = '', tool = '', arguments = '', result = NULL "
        "WHERE id = ?",
        (row["id"],),
    )
    read = row["sequence"] <= child["cursor"]
    connection.execute(
        "UPDATE conversations SET total_steps = total_steps - ?, title = '', "
        "reflected_steps = reflected_steps - ?, unreflected_bytes = unreflected_bytes - ? "
        "WHERE id = ?",
        (row["step"], row["step"] * read, row["size"] * (not read), child["id"]),
    )
    note(connection, [(child["key"], row["id"], "norecord")])


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many entries were left out, by reason."""
    rows = connection.execute(
        "SELECT why, count(*) AS many FROM left_out WHERE why <> ? GROUP BY why", (COPY,)
    )
    return {row["why"]: row["many"] for row in rows}
