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


def fingerprint(stream: BinaryIO, head_length: int = _HEAD) -> Fingerprint:
    """Describe an open file; its position is restored."""
    status = os.fstat(stream.fileno())
    here = stream.tell()
    stream.seek(0)
    head = stream.read(min(head_length, status.st_size))
    stream.seek(here)
    digest = hashlib.sha256(head).hexdigest()
    return Fingerprint(status.st_dev, status.st_ino, status.st_size, len(head), digest)


def find(connection: sqlite3.Connection, path: str, stream: BinaryIO) -> Source:
    """Return where to go on reading `path`.

    A shorter, replaced or rewritten file is read from the start again: entry ids make that
    harmless. The head is compared over the length that was hashed before, since it may have been
    shorter than it is now.
    """
    row = connection.execute("SELECT * FROM sources WHERE path = ?", (path,)).fetchone()
    if row is None:
        return START
    now = fingerprint(stream, row["head_length"])
    same = (
        (now.device, now.inode) == (row["device"], row["inode"])
        and now.size >= row["read_to"]
        and now.head_hash == row["head_hash"]
    )
    if not same:
        return START
    counts = connection.execute("SELECT row, count FROM source_rows WHERE path = ?", (path,))
    return Source(row["resume_at"], row["read_to"], row["bad_lines"], dict(counts.fetchall()))


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
    rows = connection.execute("SELECT path, degraded FROM sources WHERE degraded <> ''")
    return [(row["path"], row["degraded"]) for row in rows]


def read_at(connection: sqlite3.Connection, path: str) -> str:
    """Return when a file was read the last time, "" if it never was."""
    row = connection.execute("SELECT read_at FROM sources WHERE path = ?", (path,)).fetchone()
    return row["read_at"] if row else ""
