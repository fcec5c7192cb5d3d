"""A look into a transcript without journaling it: what it would give, and when it was last heard."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from reflector.core.cleaning import clean
from reflector.harness.reading import About, Appended, Position, Record
from reflector.runtime.consent import No
from reflector.runtime.recording import consent, folder_no
from reflector.runtime.transcripts import open_file, recognised, source_name
from reflector.runtime.wiring import Context
from reflector.store.imports import Known

_TAIL = 256 * 1024


@dataclass(frozen=True, slots=True)
class Look:
    """What reading a file would journal, by conversation; nothing of it was written."""

    path: str
    format: str
    conversation: str
    entries: int
    bad_lines: int
    left_out: Mapping[str, int]
    conversations: Mapping[str, int]

    def as_json(self) -> dict[str, object]:
        """Return the public form, with the keys of a file that was read."""
        return {
            "path": self.path,
            "format": self.format,
            "conversation": self.conversation,
            "entries": self.entries,
            "skipped": 0,
            "bad_lines": self.bad_lines,
            "degraded": False,
            "left_out": dict(self.left_out),
        }


def look(
    context: Context, path: Path, known: Known | None = None, *, settled: bool = False
) -> Look:
    """Read what is new of a transcript and count it. Raises as `ingest` does for its file.

    Counted is what the file says: that an entry is known from elsewhere already, was off the
    record, or was said in a pause, only the journal can tell.
    """
    with open_file(path) as stream:
        source = recognised(stream, path)
        counts = _Counts(context)
        bad = 0
        for batch in source.batches(_start(stream, known), settled=settled):
            bad += batch.bad_lines
            for record in batch.records:
                counts.take(record)
        return Look(
            path=source_name(path),
            format=source.harness,
            conversation=clean(str(source.file_key)),
            entries=sum(counts.entries.values()),
            bad_lines=bad,
            left_out=dict(sorted(counts.left_out.items())),
            conversations=dict(counts.entries),
        )


def _start(stream: BinaryIO, known: Known | None) -> Position:
    status = os.fstat(stream.fileno())
    same = known is not None and (known.device, known.inode) == (status.st_dev, status.st_ino)
    if known is None or not same or status.st_size < known.read_to:
        return Position()
    return Position(known.resume_at, known.read_to)


class _Counts:
    """Entries by conversation, without those whose folder or harness's mark keeps them out."""

    def __init__(self, context: Context) -> None:
        self._consent = consent(context)
        self._home = context.home.path
        self._folders: dict[str, No | None] = {}
        self._here: dict[str, str] = {}
        self._headless: set[str] = set()
        self.entries: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def take(self, record: Record) -> None:
        key = clean(str(record.key))
        if isinstance(record, About):
            self._here[key] = record.cwd or self._here.get(key, "")
            if record.headless:
                self._headless.add(key)
        elif isinstance(record, Appended):
            no = self._no(key, record.cwd)
            if no is None:
                self.entries[key] += 1
            else:
                self.left_out[no.value] += 1

    def _no(self, key: str, cwd: str) -> No | None:
        if key in self._headless and not self._consent.headless:
            return No.HEADLESS
        return self._folder(self._here.get(key, "")) or self._folder(cwd)

    def _folder(self, folder: str) -> No | None:
        if not folder:
            return None
        if folder not in self._folders:
            self._folders[folder] = folder_no(self._consent, folder, self._home)
        return self._folders[folder]


def last_said(path: Path) -> str:
    """Return the time of the last entry in a transcript's end, "" when no row there has one."""
    with open_file(path) as stream:
        source = recognised(stream, path)
        start = _last_rows(stream)
        said = [
            max(record.entry.at, record.until)
            for batch in source.batches(Position(start, start))
            for record in batch.records
            if isinstance(record, Appended)
        ]
    return max(said, default="")


def _last_rows(stream: BinaryIO) -> int:
    """Return where the first whole row in the last part of a file begins."""
    size = stream.seek(0, os.SEEK_END)
    if size <= _TAIL:
        return 0
    stream.seek(size - _TAIL)
    stream.readline()
    return stream.tell()
