"""Transcript files into the journal: resumable, idempotent, captured on the way in."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from reflector.core.ambient import instant, stamp
from reflector.core.capture import capture
from reflector.core.cleaning import clean
from reflector.core.entry import ConversationKey, Kind
from reflector.core.errors import BusyError, PausedError, TranscriptError
from reflector.core.redact import redact
from reflector.harness import reading
from reflector.runtime import notices, pauses
from reflector.runtime.consent import Consent, No
from reflector.runtime.gate import Gate
from reflector.runtime.recording import consent
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import recall, sources
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
    left_out: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the public form."""
        return {
            "path": self.path,
            "format": self.format,
            "conversation": self.conversation,
            "entries": self.entries,
            "skipped": self.skipped,
            "bad_lines": self.bad_lines,
            "degraded": self.degraded,
            "left_out": dict(self.left_out),
        }


def ingest(context: Context, path: Path, watch: Watch) -> Ingested:
    """Journal the new part of one transcript.

    Raises TranscriptError when it cannot be read; what was known of it stays as it was, and the
    source is marked degraded. Raises PausedError while a person paused recording.
    """
    given = consent(context)
    _refuse_while_paused(context, given, path)
    with context.state(durability="NORMAL") as state:
        name = _readable(_real(path))
        try:
            with _open(path) as stream:
                source = _source(stream, path)
                return _read(context, state, _File(path, name, stream, source), given, watch)
        except TranscriptError as error:
            with state.transaction() as connection:
                sources.degrade(connection, name, error.code)
            raise


def _source(stream: BinaryIO, path: Path) -> reading.Source:
    stem = clean(path.stem)  # it names a conversation whose rows do not
    try:
        return reading.open_source(stream, stem)
    except TranscriptError as error:
        if not error.message.startswith(stem):
            raise
        # The reader knows only the stem; two folders may hold files of that name.
        whole = error.message.replace(stem, str(path), 1)
        facts = {**error.facts, "path": str(path)}
        raise type(error)(whole, hint=error.hint, **facts) from error


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except OSError as error:  # a relative path below a working directory that was deleted
        raise _unreadable(path, error) from error


def _refuse_while_paused(context: Context, given: Consent, path: Path) -> None:
    held = pauses.holding(given.pauses, context.ambient.now())
    if held is None:
        return
    end = f"{instant(held.until).astimezone():%Y-%m-%d %H:%M}" if held.until else ""
    raise PausedError(
        f"Recording is paused{f' until {end}' if end else ''}, so {path} was not read.",
        hint="`reflector resume` goes on recording; what is said while paused stays out.",
        path=str(path),
        paused_since=held.since,
        paused_until=held.until or None,
    )


@dataclass(frozen=True, slots=True)
class _File:
    """An open transcript: as it was named, and under the name that the journal keeps."""

    path: Path
    name: str
    stream: BinaryIO
    source: reading.Source


def _readable(path: Path) -> str:
    # Two files whose names differ in a secret alone are one: each is read from its start again.
    return clean(os.fsencode(path).decode("utf-8", "backslashreplace"))


def _open(path: Path) -> BinaryIO:
    try:
        # Non-blocking, so that a FIFO without a writer is refused instead of waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise _unreadable(path, error) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise TranscriptError(
            f"{path} is {kind}.", hint="Name transcript files one by one.", path=str(path)
        )
    return io.BufferedReader(_Transcript(descriptor, path), 1 << 20)


def _unreadable(path: Path, error: OSError) -> TranscriptError:
    return TranscriptError(
        f"{path} cannot be read: {error.strerror}.",
        hint="Name an existing transcript file that you may read.",
        path=str(path),
    )


class _Transcript(io.FileIO):
    """An open transcript whose disk may fail at any byte."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor)
        self._path = path

    def readinto(self, buffer: Any) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise _unreadable(self._path, error) from error


def _read(context: Context, state: State, file: _File, given: Consent, watch: Watch) -> Ingested:
    known = sources.find(state.connection, file.name, file.stream)
    gate = _gate(context, state, file, given, first=known is sources.START)
    if known is sources.START:
        with state.transaction() as connection:
            sources.forget_rows(connection, file.name)
    mark = sources.fingerprint(file.stream)
    start = reading.Position(known.resume_at, known.read_to, known.rows)
    tally = _Tally(bad_lines=known.bad_lines)
    names = _Names()
    key = str(names.of(file.source.file_key))
    before = _steps(state, key)
    unsaved = reading.Position()
    for batch in file.source.batches(start):
        unsaved = unsaved.moved(batch.position)
        # Asked again after reading: what was said since somebody paused is in no batch before.
        gate.pauses(pauses.read(context.home))
        records = [names.cleaned(record) for record in batch.records]
        with state.transaction() as connection:
            appender = Appender(connection, context.ambient.now())
            gate.begin(state, records, context.ambient.now())
            for record in records:
                _store(appender, record, tally, gate)
            tally.bad_lines += batch.bad_lines
            tally.skipped += batch.skipped
            if gate.end(appender):
                reached = _reached(unsaved, tally)
                now = context.ambient.now()
                sources.save(connection, file.name, mark, file.source.harness, key, reached, now)
                unsaved = reading.Position()
            for rule, count in tally.take_redactions().items():
                add_redactions(connection, rule, count)
            notices.add_replaced(connection, tally.take_typed())
        _unsearch(context, gate)
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
        left_out=tally.left_out,
    )


def _unsearch(context: Context, gate: Gate) -> None:
    """Let no index keep the words of what was just taken out of the journal."""
    if gate.purged:
        # When somebody keeps it for long, the next search notices and makes it anew.
        with contextlib.suppress(BusyError):
            recall.drop(context.agent, context.ambient.clock, recall.JOURNAL)
        gate.purged = False


def _gate(context: Context, state: State, file: _File, given: Consent, *, first: bool) -> Gate:
    written = datetime.fromtimestamp(os.fstat(file.stream.fileno()).st_mtime, UTC)
    since = sources.read_at(state.connection, file.name) or stamp(written)
    return Gate(given, context.home.path, (since, stamp(written)), first=first)


def _reached(position: reading.Position, tally: _Tally) -> sources.Source:
    return sources.Source(position.resume_at, position.read_to, tally.bad_lines, position.rows)


class _Names:
    """Names of conversations without secrets: a harness may take them from anywhere."""

    def __init__(self) -> None:
        self._known: dict[ConversationKey, ConversationKey] = {}

    def of(self, key: ConversationKey) -> ConversationKey:
        if key not in self._known:
            session, agent = clean(key.session), clean(key.agent)
            self._known[key] = ConversationKey(key.harness, session, agent)
        return self._known[key]

    def cleaned(self, record: reading.Record) -> reading.Record:
        key = self.of(record.key)
        if key == record.key:
            return record
        if isinstance(record, reading.Appended):
            # Ids of rows without one of their own are made of the conversation's name.
            found = record.entry
            entry = replace(found, id=clean(found.id), message_id=clean(found.message_id))
            parent = self.of(record.parent) if record.parent else None
            return replace(record, key=key, parent=parent, entry=entry)
        if isinstance(record, reading.Hidden):
            return replace(record, key=key, message_id=clean(record.message_id))
        return replace(record, key=key)


class _Tally:
    """Counts over one file."""

    def __init__(self, bad_lines: int) -> None:
        self.entries = self.skipped = 0
        self.bad_lines = bad_lines
        self.left_out: dict[str, int] = {}
        self._redactions: dict[str, int] = {}
        self._typed: dict[str, int] = {}

    def refused(self, why: No) -> None:
        self.left_out[why.value] = self.left_out.get(why.value, 0) + 1

    def redacted(self, kind: Kind, counts: Mapping[str, int]) -> None:
        for rule, count in counts.items():
            self._redactions[rule] = self._redactions.get(rule, 0) + count
            if kind is Kind.USER:
                self._typed[rule] = self._typed.get(rule, 0) + count

    def take_redactions(self) -> dict[str, int]:
        taken, self._redactions = self._redactions, {}
        return taken

    def take_typed(self) -> dict[str, int]:
        taken, self._typed = self._typed, {}
        return taken


def _store(appender: Appender, record: reading.Record, tally: _Tally, gate: Gate) -> None:
    match record:
        case reading.Appended(key, parent, entry):
            if why := gate.why(record):
                tally.refused(why)
                return
            captured, counts = capture(entry)
            if appender.append(appender.conversation(key, parent), captured):
                tally.entries += 1
                tally.redacted(captured.kind, counts)
        case reading.About(title=title):
            gate.learn(replace(record, title=_line(title)))
        case reading.Boundary(key, name) if gate.admits(key):
            appender.mark_boundary(appender.conversation(key, None), name)
        case reading.Hidden(key, message) if gate.admits(key):
            appender.hide_newest_assistant(appender.conversation(key, None), message)
        case _:
            return


def _line(title: str) -> str:
    return redact(" ".join(title.split())).text[:200]


def _steps(state: State, key: str) -> int:
    found = conversation(state.connection, key)
    return found.total_steps if found else 0
