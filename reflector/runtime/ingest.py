"""Transcript files into the journal: resumable, idempotent, captured on the way in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from reflector.core.ambient import instant, stamp
from reflector.core.capture import capture
from reflector.core.cleaning import clean
from reflector.core.errors import BusyError, PausedError, TranscriptError
from reflector.core.redact import redact
from reflector.harness import reading
from reflector.runtime import notices, pauses
from reflector.runtime.consent import Consent
from reflector.runtime.decisions.hearing import Hearing
from reflector.runtime.diary import hearing as diary
from reflector.runtime.gate import Gate
from reflector.runtime.record_names import Names
from reflector.runtime.recording import consent
from reflector.runtime.tally import Tally
from reflector.runtime.transcripts import open_file, recognised, source_name
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import imports, recall, segments, sources
from reflector.store.journal import Appender, add_redactions, conversation
from reflector.store.state import Connection, State, storable


@dataclass(frozen=True, slots=True)
class Ingested:
    """What reading one file did. `entries` and `steps` count what was new.

    `conversations` counts it for each conversation that was added to; `passed_by` are those of
    them that wait for no run.
    """

    path: str
    format: str
    conversation: str
    entries: int
    steps: int
    skipped: int
    bad_lines: int
    degraded: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)
    conversations: Mapping[str, int] = field(default_factory=dict)
    passed_by: frozenset[str] = frozenset()

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


def ingest(context: Context, path: Path, watch: Watch, *, settled: bool = False) -> Ingested:
    """Journal the new part of one transcript. Raises as `ingest_into` does."""
    with context.state(durability="NORMAL") as state:
        return ingest_into(context, state, path, watch, settled=settled)


def ingest_into(
    context: Context,
    state: State,
    path: Path,
    watch: Watch,
    *,
    settled: bool = False,
    passing_by: bool = False,
    history: bool = False,
) -> Ingested:
    """Journal the new part of one transcript into a database that the caller has opened.

    `settled` takes what would be held back at its end because more may follow. `passing_by` leaves
    no backlog: the cursor of a conversation that had none is set behind what was added. `history`
    does so for extraction alone: nobody pays for years of it unasked. Raises TranscriptError when
    it cannot be read; what was known of it stays as it was, and the source is marked degraded.
    Raises PausedError while a person paused recording.
    """
    given = consent(context)
    _refuse_while_paused(context, given, str(path))
    name = source_name(path)
    with _degrading(state, name), open_file(path) as stream:
        written = stamp(datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC))
        source = recognised(stream, path)
        file = _File(
            path,
            name,
            stream,
            source,
            written,
            settled,
            passing_by=passing_by,
            history=history or passing_by,
        )
        return _read(context, state, file, given, watch)


def ingest_stream(
    context: Context,
    stream: BinaryIO,
    *,
    name: str,
    stem: str,
    watch: Watch,
    settled: bool = False,
) -> Ingested:
    """Journal what is new in a stream that is no file, such as `opencode:SESSION`.

    All rules of a file hold. The stream must be able to seek and stays the caller's to close;
    `stem` names a conversation whose rows do not. Reading goes on behind what was read under this
    `name` before, so what was given then must begin what is given now; a stream that is shorter,
    or that begins differently, is read from its start. Raises as `ingest` does.
    """
    given = consent(context)
    _refuse_while_paused(context, given, name)
    kept = storable(name)
    with context.state(durability="NORMAL") as state, _degrading(state, kept):
        source = reading.open_source(stream, clean(stem))
        now = context.ambient.now()
        file = _File(Path(kept), kept, stream, source, now, settled, is_file=False)
        return _read(context, state, file, given, watch)


@contextmanager
def _degrading(state: State, name: str) -> Iterator[None]:
    try:
        yield
    except TranscriptError as error:
        with state.transaction() as connection:
            sources.degrade(connection, name, error.code)
        raise


def _refuse_while_paused(context: Context, given: Consent, path: str) -> None:
    held = pauses.holding(given.pauses, context.ambient.now())
    if held is None:
        return
    end = f"{instant(held.until).astimezone():%Y-%m-%d %H:%M}" if held.until else ""
    raise PausedError(
        f"Recording is paused{f' until {end}' if end else ''}, so {path} was not read.",
        hint="`reflector resume` goes on recording; what is said while paused stays out.",
        path=path,
        paused_since=held.since,
        paused_until=held.until or None,
    )


@dataclass(frozen=True, slots=True)
class _File:
    """An open transcript: as it was named, and under the name that the journal keeps.

    Rows without any time were said by `written` at the latest; `settled` and `passing_by` are as
    `ingest_into` has them.
    """

    path: Path
    name: str
    stream: BinaryIO
    source: reading.Source
    written: str
    settled: bool
    is_file: bool = True
    passing_by: bool = False
    history: bool = False


def _read(context: Context, state: State, file: _File, given: Consent, watch: Watch) -> Ingested:
    one = _Reading(context, state, file, given)
    before = _steps(state, one.key)
    for batch in file.source.batches(one.start, settled=file.settled):
        one.progress.moved(batch.position)
        # Asked again after reading: what was said since somebody paused is in no batch before.
        one.gate.pauses(pauses.read(context.home))
        one.journal(batch)
        _unsearch(context, one.gate)
        watch.reading(file.path, batch.position.read_to, one.progress.mark.size)
        if watch.stop():
            break
    tally = one.tally
    return Ingested(
        path=file.name,
        format=file.source.harness,
        conversation=one.key,
        entries=tally.entries,
        steps=_steps(state, one.key) - before,
        skipped=tally.skipped,
        bad_lines=tally.bad_lines,
        left_out=tally.left_out,
        conversations={str(key): count for key, count in tally.added.items()},
        passed_by=frozenset(tally.passed_by),
    )


class _Reading:
    """One reading of a file: where it starts, who judges and hears its records, what it counts."""

    def __init__(self, context: Context, state: State, file: _File, given: Consent) -> None:
        self.progress = _Progress(state, file)
        known = self.progress.known
        self.gate = _gate(context, state, file, given, first=known is sources.START)
        self.start = reading.Position(known.resume_at, known.read_to, known.rows)
        self.tally = Tally(bad_lines=known.bad_lines)
        wanted = context.settings.flag("decisions.enabled") and not file.passing_by
        lived = context.settings.flag("diary.enabled") and not file.history
        self._hearings = (Hearing(wanted=wanted), diary.Hearing(wanted=lived))
        self._names = Names()
        self.key = str(self._names.of(file.source.file_key))
        self._now = context.ambient.now
        self._state = state
        self._file = file

    def journal(self, batch: reading.Batch) -> None:
        """Write a batch with all that follows from it, in one transaction."""
        records = self._names.cleaned(batch.records)
        with self._state.transaction() as connection:
            appender = Appender(connection, self._now())
            self.gate.begin(self._state, records, self._now())
            idle = _idle(connection, records, self.tally) if self._file.passing_by else {}
            extracted = _extracted(connection, records) if self._file.history else []
            for record in records:
                self._take(appender, connection, record)
            self.tally.bad_lines += batch.bad_lines
            self.tally.skipped += batch.skipped
            if self.gate.end(appender):
                self.progress.save(connection, self.key, self.tally.bad_lines, self._now())
            for rule, count in self.tally.take_redactions().items():
                add_redactions(connection, rule, count)
            notices.add_replaced(connection, self.tally.take_typed())
            imports.pass_by(connection, self.tally.passed(idle), self._now())
            segments.pass_by(connection, extracted)

    def _take(self, appender: Appender, connection: Connection, record: reading.Record) -> None:
        _store(appender, record, self.tally, self.gate)
        added = self.tally.take_new()
        for hearing in self._hearings:
            hearing.heard(connection, record, added, self._now())


def _idle(
    connection: Connection, records: Sequence[reading.Record], tally: Tally
) -> dict[str, int]:
    """Return the conversations that have no backlog of their own, with what they were given."""
    keys = {str(key): key for key in {record.key for record in records}}
    idle = imports.caught_up(connection, sorted(keys))
    return {name: tally.added.get(keys[name], 0) for name in idle}


def _extracted(connection: Connection, records: Sequence[reading.Record]) -> list[str]:
    """Return the conversations in which nothing waits for extraction yet."""
    return segments.caught_up(connection, sorted({str(record.key) for record in records}))


def _unsearch(context: Context, gate: Gate) -> None:
    """Let no index keep the words of what was just taken out of the journal."""
    if gate.purged:
        # When somebody keeps it for long, the next search notices and makes it anew.
        with suppress(BusyError):
            recall.drop(context.agent, context.ambient.clock, recall.JOURNAL)
        gate.purged = False


def _gate(context: Context, state: State, file: _File, given: Consent, *, first: bool) -> Gate:
    since = sources.read_at(state.connection, file.name) or file.written
    return Gate(given, context.home.path, (since, file.written), first=first)


class _Progress:
    """How far one reading has come, and what of that is saved.

    Of two readers of one file the slower saves nothing more: its position would lie before rows
    that the other has counted, and those would come a second time under other names.
    """

    def __init__(self, state: State, file: _File) -> None:
        self._file = file
        self._stands = sources.standing(state.connection, file.name)  # before what is found
        self.known = sources.find(state.connection, file.name, file.stream, is_file=file.is_file)
        self.mark = sources.fingerprint(file.stream, is_file=file.is_file)
        self._afresh = self.known is sources.START
        self._unsaved = reading.Position()

    def moved(self, position: reading.Position) -> None:
        self._unsaved = self._unsaved.moved(position)

    def save(self, connection: Connection, key: str, bad_lines: int, now: str) -> None:
        name, harness, to = self._file.name, self._file.source.harness, self._unsaved
        if sources.standing(connection, name) != self._stands:
            return
        if self._afresh:
            sources.forget_rows(connection, name)
        reached = sources.Source(to.resume_at, to.read_to, bad_lines, to.rows)
        sources.save(connection, name, self.mark, harness, key, reached, now)
        self._stands = sources.standing(connection, name)
        self._afresh, self._unsaved = False, reading.Position()


def _store(appender: Appender, record: reading.Record, tally: Tally, gate: Gate) -> None:
    match record:
        case reading.Appended(key, parent, entry):
            if why := gate.why(record):
                tally.refused(why)
                return
            captured, counts = capture(entry)
            if appender.append(appender.conversation(key, parent), captured):
                tally.entries += 1
                tally.new = captured
                tally.added[key] = tally.added.get(key, 0) + 1
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
