"""What a run read, for whoever asks where a line comes from: entries, and what became of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reflector.store.forgetting import FORGOTTEN

State = Literal["there", "expired", "forgotten", "hidden"]

_SEEN = (
    "SELECT entries.id, kind, text, tool, arguments, result, at, entries.hidden, "
    "c.key, c.title, c.harness, "
    "(SELECT why FROM left_out WHERE entry = entries.id AND why = ? LIMIT 1) AS why "
    "FROM entries JOIN conversations AS c ON c.id = conversation WHERE "
)


@dataclass(frozen=True, slots=True)
class Seen:
    """An entry that was read or is cited. `text` is empty unless it is still there."""

    id: str
    kind: str
    text: str
    at: str
    conversation: str
    title: str
    harness: str
    state: State


def read_between(
    connection: sqlite3.Connection, conversation: str, first: str, last: str
) -> list[Seen]:
    """Return what was said from one entry of a conversation to another, both named by id."""
    rows = connection.execute(
        f"{_SEEN} c.key = ? AND kind IN ('user', 'assistant') AND sequence BETWEEN "  # noqa: S608 - constants
        "(SELECT sequence FROM entries WHERE id = ?) AND "
        "(SELECT sequence FROM entries WHERE id = ?) ORDER BY sequence",
        (FORGOTTEN, conversation, first, last),
    )
    return [_seen(row) for row in rows]


def cited(connection: sqlite3.Connection, entries: tuple[str, ...]) -> Iterator[Seen]:
    """Yield the entries that are named, as far as the journal has them."""
    for entry in entries:
        row = connection.execute(f"{_SEEN} entries.id = ?", (FORGOTTEN, entry)).fetchone()
        if row is not None:
            yield _seen(row)


def _seen(row: sqlite3.Row) -> Seen:
    state: State = "there"
    if row["why"]:
        state = "forgotten"
    elif row["hidden"]:
        state = "hidden"
    elif not (row["text"] or row["arguments"] or row["result"]):
        state = "expired"
    # A call of a tool has no text: what it was called with says what it was.
    said = row["text"] or f"{row['tool']}({row['arguments']})"
    text = said if state == "there" else ""
    named = (row["key"], row["title"], row["harness"])
    return Seen(row["id"], row["kind"], text, row["at"], *named, state)
