"""Transcript files into the journal: resumable, idempotent, captured on the way in."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from reflector.core.capture import capture
from reflector.core.errors import TranscriptError
from reflector.core.redact import redact
from reflector.harness import reading
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import sources
from reflector.store.journal import Appender, add_redactions, conversation
from reflector.store.state import State


@dataclass(frozen=True, slots=True)
class Ingested:
    """What reading one file did. `entries` and `steps` count what was new."""

    path: str
    format: str
    conversation: str
    entries: int
    steps: int
    skipped: int
    bad_lines: int
    degraded: bool = False

    def as_json(self) -> dict[str, str | int | bool]:
        """Return the public form."""
        return {
            "path": self.path,
            "format": self.format,
            "conversation": self.conversation,
            "entries": self.entries,
            "skipped": self.skipped,
            "bad_lines": self.bad_lines,
            "degraded": self.degraded,
        }


def ingest(context: Context, path: Path, watch: Watch) -> Ingested:
    """Journal the new part of one transcript.

    Raises TranscriptError when it cannot be read; what was known of it stays as it was, and the
    source is marked degraded.
    """
    with context.state(durability="NORMAL") as state:
        name = _readable(Path(os.path.realpath(path)))
        try:
            with _open(path) as stream:
                source = reading.open_source(stream, path.stem)
                return _read(context, state, _File(path, name, stream, source), watch)
        except TranscriptError as error:
            with state.transaction() as connection:
                sources.degrade(connection, name, error.code)
            raise


@dataclass(frozen=True, slots=True)
class _File:
    """An open transcript: as it was named, and under the name that the journal keeps."""

    path: Path
    name: str
    stream: BinaryIO
    source: reading.Source


def _readable(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _open(path: Path) -> BinaryIO:
    try:
        # Non-blocking, so that a FIFO without a writer is refused instead of waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise TranscriptError(
            f"{path} cannot be read: {error.strerror}.",
            hint="Name an existing transcript file that you may read.",
            path=str(path),
        ) from error
    stream = io.FileIO(descriptor)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        stream.close()
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise TranscriptError(
            f"{path} is {kind}.", hint="Name transcript files one by one.", path=str(path)
        )
    return io.BufferedReader(stream, 1 << 20)


def _read(context: Context, state: State, file: _File, watch: Watch) -> Ingested:
    known = sources.find(state.connection, file.name, file.stream)
    if known is sources.START:
        with state.transaction() as connection:
            sources.forget_rows(connection, file.name)
    mark = sources.fingerprint(file.stream)
    start = reading.Position(known.resume_at, known.read_to, known.rows)
    tally = _Tally(bad_lines=known.bad_lines)
    key = str(file.source.file_key)
    before = _steps(state, key)
    for batch in file.source.batches(start):
        with state.transaction() as connection:
            appender = Appender(connection, context.ambient.now())
            for record in batch.records:
                _store(appender, record, tally, context.home.path)
            tally.bad_lines += batch.bad_lines
            tally.skipped += batch.skipped
            reached = _reached(batch.position, tally)
            now = context.ambient.now()
            sources.save(connection, file.name, mark, file.source.harness, key, reached, now)
            for rule, count in tally.take_redactions().items():
                add_redactions(connection, rule, count)
        watch.reading(file.path, batch.position.read_to, mark.size)
        if watch.stop():
            break
    return Ingested(
        path=file.name,
        format=file.source.harness,
        conversation=key,
        entries=tally.entries,
        steps=_steps(state, key) - before,
        skipped=tally.skipped,
        bad_lines=tally.bad_lines,
    )


def _reached(position: reading.Position, tally: _Tally) -> sources.Source:
    return sources.Source(position.resume_at, position.read_to, tally.bad_lines, position.rows)


class _Tally:
    """Counts over one file, and the conversations of it that must not be journaled."""

    def __init__(self, bad_lines: int) -> None:
        self.entries = self.skipped = 0
        self.bad_lines = bad_lines
        self.own: set[str] = set()
        self._redactions: dict[str, int] = {}

    def redacted(self, counts: Mapping[str, int]) -> None:
        for rule, count in counts.items():
            self._redactions[rule] = self._redactions.get(rule, 0) + count

    def take_redactions(self) -> dict[str, int]:
        taken, self._redactions = self._redactions, {}
        return taken


def _store(appender: Appender, record: reading.Record, tally: _Tally, home: Path) -> None:
    if isinstance(record, reading.About) and record.cwd and _inside(record.cwd, home):
        tally.own.add(str(record.key))
    if str(record.key) in tally.own:
        # A session of Reflector's own children: reflecting on it would feed on itself.
        tally.skipped += 1
        return
    match record:
        case reading.Appended(key, parent, entry):
            captured, counts = capture(entry)
            if appender.append(appender.conversation(key, parent), captured):
                tally.entries += 1
                tally.redacted(counts)
        case reading.About(key, parent, cwd, title, headless):
            row = appender.conversation(key, parent)
            appender.describe(row, cwd=cwd, title=_line(title), headless=headless)
        case reading.Boundary(key, name):
            appender.mark_boundary(appender.conversation(key, None), name)
        case reading.Hidden(key):
            appender.hide_newest_assistant(appender.conversation(key, None))


def _inside(cwd: str, home: Path) -> bool:
    return Path(os.path.normpath(cwd)).is_relative_to(home)


def _line(title: str) -> str:
    return redact(" ".join(title.split())).text[:200]


def _steps(state: State, key: str) -> int:
    found = conversation(state.connection, key)
    return found.total_steps if found else 0
