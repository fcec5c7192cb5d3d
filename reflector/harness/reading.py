"""Reads a source from a stored position: bytes in, batches of journal-ready records out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from reflector.core.entry import ConversationKey
from reflector.core.errors import TranscriptError, UnknownFormatError
from reflector.harness.events import Adapter, Json, Place
from reflector.harness.foreign import foreign, foreign_bytes
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
    `bad_lines` and `skipped` (results that came after it was clear that none would) count only
    what lies behind the old `read_to`, so nothing is reported twice.
    """

    records: tuple[Record, ...]
    position: Position
    bad_lines: int
    skipped: int


def open_source(stream: BinaryIO, stem: str) -> Source:
    """Recognise a source by its first rows; `stem` is its file name without the suffix.

    The stream must be seekable; it stays the caller's to close. Raises `UnknownFormatError` for a
    form that no adapter reads, `TranscriptError` for one that is empty, binary or still torn.
    """
    stream.seek(0)
    head = stream.read(_HEAD_BYTES)
    if not head.strip(b" \t\r\n"):
        raise TranscriptError(f"{stem} is empty.", hint="Nothing was said in it yet.")
    if b"\0" in head[:4096]:
        raise TranscriptError(f"{stem} is a binary file.", hint="Transcripts are JSON lines.")
    items = islice(read_rows(stream, 0), _AHEAD_LINES)
    ahead = tuple(islice((row.value for row in items if isinstance(row, Row)), _AHEAD_ROWS))
    adapter = detect(ahead)
    if adapter is None:
        raise _refusal(stem, ahead, head)
    return Source(stream, stem, adapter, ahead)


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
        hint=f"Readable are session files of {readable} (one chat message per line).",
        looks_like=likeness,
    )


class Source:
    """A recognised source of rows."""

    def __init__(
        self, stream: BinaryIO, stem: str, adapter: Adapter, ahead: Sequence[Json]
    ) -> None:
        """Keep the stream, the adapter and the first rows, from which every fold learns."""
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

    def batches(self, start: Position, rows_per_batch: int = 1000) -> Iterator[Batch]:
        """Yield what is new since the start, at most so many rows at a time.

        Rows between `resume_at` and `read_to` are read again for what they left open, but their
        records are not repeated, except what is known about the conversation.
        """
        reading = _Reading(self._adapter, self._ahead, self._stem, start)
        for item in read_rows(self._stream, start.resume_at):
            reading.take(item)
            if reading.rows >= rows_per_batch or reading.size >= _BATCH_BYTES:
                yield reading.batch()
        if reading.rows:
            yield reading.batch()


class _Reading:
    """One pass over a source."""

    def __init__(self, adapter: Adapter, ahead: Sequence[Json], stem: str, start: Position) -> None:
        self._fold = adapter.fold(ahead, stem)
        self._names = RowNames(start.rows)
        self._pairing = Pairing(adapter.harness, self._names)
        self._known_to = start.read_to
        self._here = start.resume_at
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
            records.extend(take(event))
        if fresh:
            self._late += self._pairing.late - late
            self._records += records
        else:
            self._records += (record for record in records if isinstance(record, About))

    def batch(self) -> Batch:
        """Close the present batch and begin the next."""
        resume_at = self._pairing.anchor(self._here)
        position = Position(
            resume_at, max(self._known_to, self._here), self._names.passed(resume_at)
        )
        batch = Batch(tuple(self._records), position, self._bad, self._late)
        self._late = 0
        self._start_batch()
        return batch
