"""How far each transcript file has been read, and whether it is still the same file."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What tells one file from another: device, inode, size in bytes, and a hash of its head."""

    device: int
    inode: int
    size: int
    head_length: int
    head_hash: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where reading a file stopped. `rows` counts equal rows without an id before `resume_at`."""

    resume_at: int
    read_to: int
    bad_lines: int
    rows: Mapping[str, int]


START = Source(0, 0, 0, {})

Standing = tuple[object, ...]
"""Where a source stands, to be compared and nothing else."""

_FIND = (
    "SELECT device, inode, head_length, head_hash, resume_at, read_to, bad_lines, row, count "
    "FROM sources LEFT JOIN source_rows USING (path) WHERE path = ?"
)


def fingerprint(stream: BinaryIO, head_length: int = _HEAD, *, is_file: bool = True) -> Fingerprint:
    """Describe an open file or any other stream that can seek; its position is restored.

    A stream has neither device nor inode, even where a temporary file holds it.
    """
    device, inode = _place(stream) if is_file else (0, 0)
    here = stream.tell()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(min(head_length, size))
    stream.seek(here)
    return Fingerprint(device, inode, size, len(head), hashlib.sha256(_lasting(head)).hexdigest())


def _lasting(head: bytes) -> bytes:
    # A harness keeps the newest title in a first line of fixed width and writes over it in place.
    return head.partition(b"\n")[2] if head.startswith(b'{"type":"title",') else head


def _place(stream: BinaryIO) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_dev, status.st_ino


def find(
    connection: sqlite3.Connection, path: str, stream: BinaryIO, *, is_file: bool = True
) -> Source:
    """Return where to go on reading `path`.

    A shorter, replaced or rewritten file is read from the start again: entry ids make that
    harmless. The head is compared over the length that was hashed before, since it may have been
    shorter than it is now.
    """
    # One statement: between two another reader may save a position, or counts, of its own.
    rows = connection.execute(_FIND, (path,)).fetchall()
    if not rows:
        return START
    row = rows[0]
    now = fingerprint(stream, row["head_length"], is_file=is_file)
    same = (
        (now.device, now.inode) == (row["device"], row["inode"])
        and now.size >= row["read_to"]
        and now.head_hash == row["head_hash"]
    )
    if not same:
        return START
    counts = {each["row"]: each["count"] for each in rows if each["row"] is not None}
    return Source(row["resume_at"], row["read_to"], row["bad_lines"], counts)


def standing(connection: sqlite3.Connection, path: str) -> Standing:
    """Return what tells whether somebody else saved how far he read; () when nobody has yet."""
    row = connection.execute(
        "SELECT resume_at, read_to, device, inode, head_length, head_hash FROM sources "
        "WHERE path = ?",
        (path,),
    ).fetchone()
    return () if row is None else tuple(row)


def save(
    connection: sqlite3.Connection,
    path: str,
    mark: Fingerprint,
    harness: str,
    conversation: str,
    reached: Source,
    now: str,
) -> None:
    """Record how far a file was read; `reached.rows` holds only counts that changed."""
    connection.execute(
        "INSERT INTO sources (path, harness, conversation, device, inode, size, head_length, "
        "head_hash, resume_at, read_to, bad_lines, read_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
        "harness = excluded.harness, conversation = excluded.conversation, "
        "device = excluded.device, inode = excluded.inode, size = excluded.size, "
        "head_length = excluded.head_length, head_hash = excluded.head_hash, "
        "resume_at = excluded.resume_at, read_to = excluded.read_to, "
        "bad_lines = excluded.bad_lines, degraded = '', read_at = excluded.read_at",
        (
            path,
            harness,
            conversation,
            mark.device,
            mark.inode,
            mark.size,
            mark.head_length,
            mark.head_hash,
            reached.resume_at,
            reached.read_to,
            reached.bad_lines,
            now,
        ),
    )
    connection.executemany(
        "INSERT INTO source_rows (path, row, count) VALUES (?, ?, ?) "
        "ON CONFLICT (path, row) DO UPDATE SET count = excluded.count",
        [(path, row, many) for row, many in reached.rows.items()],
    )


def forget_rows(connection: sqlite3.Connection, path: str) -> None:
    """Drop the row counts of a file that is read from the start again."""
    connection.execute("DELETE FROM source_rows WHERE path = ?", (path,))


def degrade(connection: sqlite3.Connection, path: str, why: str) -> None:
    """Mark a known file as unreadable for now; its offset stays."""
    connection.execute("UPDATE sources SET degraded = ? WHERE path = ?", (why, path))


def degraded(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the files that could not be read the last time, each with its reason."""
    rows = connection.execute(
        "SELECT path, degraded FROM sources WHERE degraded <> '' ORDER BY path"
    )
    return [(row["path"], row["degraded"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Extent:
    """A file when it was read the last time: device, inode, size in bytes, how far it was read."""

    device: int
    inode: int
    size: int
    read_to: int

    def is_all_of(self, found: os.stat_result) -> bool:
        """Tell whether a file is still that one, and nothing of it is left to read."""
        same = (found.st_dev, found.st_ino, found.st_size) == (self.device, self.inode, self.size)
        return same and self.read_to >= self.size


def extents(connection: sqlite3.Connection, harness: str) -> dict[str, Extent]:
    """Return the files that were read in a harness's form, by path, the last one first."""
    rows = connection.execute(
        "SELECT path, device, inode, size, read_to FROM sources WHERE harness = ? "
        "ORDER BY read_at DESC, path",
        (harness,),
    )
    return {row["path"]: Extent(*row[1:]) for row in rows.fetchall()}


def read_at(connection: sqlite3.Connection, path: str) -> str:
    """Return when a file was read the last time, "" if it never was."""
    row = connection.execute("SELECT read_at FROM sources WHERE path = ?", (path,)).fetchone()
    return row["read_at"] if row else ""
