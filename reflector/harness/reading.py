"""Reads a source from a stored position: bytes in, batches of journal-ready records out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from reflector.core.entry import ConversationKey
from reflector.core.errors import TranscriptError, UnknownFormatError
from reflector.harness.documents import Document, read_document
from reflector.harness.events import Adapter, Json, Lookback, Place
from reflector.harness.foreign import HINTS, foreign, foreign_bytes
from reflector.harness.lines import Bad, Row, read_rows
from reflector.harness.pairing import (
    About,
    Appended,
    Boundary,
    Hidden,
    Pairing,
    Record,
    RowNames,
)
from reflector.harness.registry import ADAPTERS, detect

__all__ = [
    "About",
    "Appended",
    "Batch",
    "Boundary",
    "Hidden",
    "Position",
    "Record",
    "Source",
    "open_source",
]

_AHEAD_ROWS = 20
_AHEAD_LINES = 100
_HEAD_BYTES = 65_536
_BATCH_BYTES = 8 * 1024 * 1024
_MARK = "document"
"""The name in `Position.rows` under which the mark of the document that was read lies."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a source was read.

    Reading resumes at byte `resume_at`, which lies before the earliest row that may still change
    what is recorded; rows before byte `read_to` have already given their records. `rows` are the
    counts of equal rows without an id before `resume_at`, by hash.
    """

    resume_at: int = 0
    read_to: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)

    def moved(self, later: Position) -> Position:
        """Return the position after a batch whose `rows` hold only what changed."""
        return Position(later.resume_at, later.read_to, {**self.rows, **later.rows})


@dataclass(frozen=True, slots=True)
class Batch:
    """What some rows said, and the position to store together with it.

    `position.rows` holds only the counts that are new or changed since the batch before.
    `bad_lines` and `skipped` (results that came after it was clear that none would, and records
    that were written anew after they were told) count only what lies behind the old `read_to`, so
    nothing is reported twice.
    """

    records: tuple[Record, ...]
    position: Position
    bad_lines: int
    skipped: int


def open_source(stream: BinaryIO, stem: str, folder: str = "") -> Source:
    """Recognise a source by its first rows; `stem` is its file name without the suffix.

    `folder` is the name of the folder that it lies in: some harnesses keep subagents in a folder
    named after their parent. The stream must be seekable; it stays the caller's to close. Raises
    `UnknownFormatError` for a form that no adapter reads, `TranscriptError` for one that is empty,
    binary, too large or still torn.
    """
    stream.seek(0)
    head = stream.read(_HEAD_BYTES)
    if not head.strip(b" \t\r\n"):
        raise TranscriptError(f"{stem} is empty.", hint="Nothing was said in it yet.")
    if b"\0" in head[:4096]:
        raise TranscriptError(f"{stem} is a binary file.", hint="Transcripts are JSON lines.")
    items = islice(read_rows(stream, 0), _AHEAD_LINES)
    ahead = tuple(islice((row.value for row in items if isinstance(row, Row)), _AHEAD_ROWS))
    document = read_document(stream, stem, head, ahead)
    if document is not None:
        ahead = tuple(islice(filter(None, document.values), _AHEAD_ROWS))
    adapter = detect(ahead, folder, document=document is not None)
    if adapter is None:
        raise _refusal(stem, ahead, head)
    return Source(stream, stem, adapter, ahead, document)


def _refusal(stem: str, ahead: Sequence[Json], head: bytes) -> TranscriptError:
    likeness = foreign(ahead) or foreign_bytes(head)
    readable = ", ".join(adapter.harness for adapter in ADAPTERS)
    if not likeness and not ahead and b"\n" not in head.strip():
        return TranscriptError(
            f"{stem} has no complete line yet.", hint="Try again when more has been written."
        )
    looks = f"it looks like {likeness}" if likeness else "its first rows look like nothing we know"
    return UnknownFormatError(
        f"{stem} is no transcript that Reflector reads: {looks}.",
        hint=HINTS.get(
            likeness, f"Readable are session files of {readable} (one chat message per line)."
        ),
        looks_like=likeness,
    )


class Source:
    """A recognised source of rows."""

    def __init__(
        self,
        stream: BinaryIO,
        stem: str,
        adapter: Adapter,
        ahead: Sequence[Json],
        document: Document | None = None,
    ) -> None:
        """Keep the stream, the adapter and the first rows, from which every fold learns.

        With a `document` the rows are taken from it, and the stream is read no more.
        """
        self._document = document
        self._stream = stream
        self._stem = stem
        self._adapter = adapter
        self._ahead = ahead

    @property
    def harness(self) -> str:
        """Return the name of the harness that wrote this source."""
        return self._adapter.harness

    @property
    def file_key(self) -> ConversationKey:
        """Return the main conversation of the file, as far as its first rows tell."""
        fold = self._adapter.fold(self._ahead, self._stem)
        places = [event.place for row in self._ahead for event in fold(row)]
        main = [place for place in places if not place.agent]
        place = next(iter(main or places), Place(self._stem))
        return Pairing(self.harness, RowNames({})).keys(place)[0]

    def batches(
        self, start: Position, rows_per_batch: int = 1000, *, settled: bool = False
    ) -> Iterator[Batch]:
        """Yield what is new since the start, at most so many rows at a time.

        `settled` says that nobody writes at the moment (the turn ended, or a whole history is
        imported): what is held back because it may still grow is given out, and open calls of the
        main conversation get no result any more.

        Rows between `resume_at` and `read_to` are read again for what they left open, but their
        records are not repeated, except what is known about the conversation. A document is read
        from its start whenever it changed: ids make that harmless.
        """
        if self._document is not None:
            yield from self._of_document(self._document, start, rows_per_batch, settled=settled)
            return
        while True:
            reading = self._reading(start)
            try:
                yield from _read(reading, read_rows(self._stream, start.resume_at), rows_per_batch)
            except _StartOverError:
                start = Position(0, reading.given_to)
                continue
            break
        if settled:
            reading.settle()
        if reading.waiting:
            yield reading.batch()

    def _reading(self, start: Position) -> _Reading:
        return _Reading(self._adapter, self._ahead, self._stem, start)

    def _of_document(
        self, document: Document, start: Position, rows_per_batch: int, *, settled: bool
    ) -> Iterator[Batch]:
        """Yield batches of which only the last moves the position: a part cannot be resumed."""
        if start.read_to == document.size and start.rows.get(_MARK) == document.mark:
            return
        reading = self._reading(Position())
        for batch in _read(reading, document.rows(), rows_per_batch):
            yield replace(batch, position=Position())
        if settled:
            reading.close()
        # What is held back must come another time, though the document be the same.
        mark = 0 if reading.holds else document.mark
        yield replace(reading.batch(), position=Position(0, document.size, {_MARK: mark}))


def _read(reading: _Reading, rows: Iterable[Row | Bad], rows_per_batch: int) -> Iterator[Batch]:
    for item in rows:
        reading.take(item)
        if reading.rows >= rows_per_batch or reading.size >= _BATCH_BYTES:
            yield reading.batch()


class _StartOverError(Exception):
    """A new row speaks of rows that this reading did not see."""


class _Reading:
    """One pass over a source."""

    def __init__(self, adapter: Adapter, ahead: Sequence[Json], stem: str, start: Position) -> None:
        self._fold = adapter.fold(ahead, stem)
        self._names = RowNames(start.rows)
        self._pairing = Pairing(adapter.harness, self._names)
        self._known_to = self.given_to = start.read_to
        self._here = start.resume_at
        self._resumed = start.resume_at > 0
        self._late = 0
        self._start_batch()

    def _start_batch(self) -> None:
        self.rows = 0
        self.size = 0
        self._bad = 0
        self._records: list[Record] = []

    def take(self, item: Row | Bad) -> None:
        """Read one row, or pass a bad line."""
        fresh = item.start >= self._known_to
        self.rows += 1
        self.size += item.end - item.start
        self._here = item.end
        if isinstance(item, Bad):
            self._bad += fresh
            return
        take, late = self._pairing.take, self._pairing.late
        records = list(self._pairing.begin(item))
        for event in self._fold(item.value):
            if fresh and self._resumed and isinstance(event, Lookback):
                raise _StartOverError
            records.extend(take(event))
        if fresh:
            self._late += self._pairing.late - late
            self._records += records
        else:
            self._records += (record for record in records if isinstance(record, About))

    @property
    def waiting(self) -> bool:
        """Tell whether there is anything that no batch has told yet."""
        return bool(self.rows or self._records)

    @property
    def holds(self) -> bool:
        """Tell whether something is held back."""
        return self._pairing.anchor(self._here) < self._here

    def settle(self) -> None:
        """Give out what is held back because it might still grow."""
        self._records += self._pairing.settle()

    def close(self) -> None:
        """Give out all that is held back."""
        self._records += self._pairing.close()

    def batch(self) -> Batch:
        """Close the present batch and begin the next."""
        resume_at = self._pairing.anchor(self._here)
        position = Position(
            resume_at, max(self._known_to, self._here), self._names.passed(resume_at)
        )
        batch = Batch(tuple(self._records), position, self._bad, self._late)
        self.given_to = position.read_to
        self._late = 0
        self._start_batch()
        return batch
