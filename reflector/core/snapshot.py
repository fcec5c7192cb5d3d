"""Which rows of a conversation a run reads: a range after the cursor, or a replay of an old one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Mode = Literal["advance", "replay"]


@dataclass(frozen=True, slots=True)
class Row:
    """What a cut needs to know of one journal row.

    `group_end` is the last sequence that carries the same message id: until it, the row's message
    group is not whole. `size` is in bytes of the serialised entry.
    """

    sequence: int
    entry: str
    group_end: int
    canonical: bool
    size: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows `first` to `last`, both included. `size` in bytes."""

    first: Row
    last: Row
    entries: int
    size: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stored range of one conversation: ids and sequences, never copies of text.

    `conversation` is the public id; `backlog_remaining` counts the rows left after the range.
    `advance` moves the cursor when its run consumes, `replay` never does.
    """

    conversation: str
    first_sequence: int
    last_sequence: int
    first_entry: str
    last_entry: str
    entries: int
    size: int
    backlog_remaining: int
    mode: Mode

    def as_json(self) -> dict[str, str | int]:
        """Return the public form."""
        return {
            "conversation": self.conversation,
            "from": self.first_entry,
            "to": self.last_entry,
            "entries": self.entries,
            "bytes": self.size,
            "backlog_remaining": self.backlog_remaining,
        }


def cut(rows: Iterable[Row], max_bytes: int) -> Cut | None:
    """Take the oldest rows that fit, up to the end of a message group.

    `rows` come in order and start right behind the cursor: rows before the first canonical one
    ride along, so that nothing is skipped. The first group always ships, even alone over the
    budget. Without a canonical row there is nothing to reflect on: None.
    """
    first: Row | None = None
    taken: Cut | None = None
    size = open_until = 0
    spoken = False
    for entries, row in enumerate(rows, start=1):
        first = first or row
        size += row.size
        spoken = spoken or row.canonical
        open_until = max(open_until, row.group_end)
        if taken and size > max_bytes:
            break
        if spoken and row.sequence >= open_until:
            taken = Cut(first, row, entries, size)
            if size > max_bytes:
                break
    return taken
