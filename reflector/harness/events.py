"""The normalised events that every harness's transcripts become, and what an adapter is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from reflector.core.entry import Kind

Json = Mapping[str, Any]
"""One decoded JSON object of a transcript."""


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation inside a harness: the session, and the agent in it (`""` = the main one)."""

    session: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """Something became known about a conversation. Empty fields say nothing new."""

    place: Place
    cwd: str = ""
    title: str = ""
    headless: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A user, assistant, reasoning or error block.

    `record` is the harness's own id of the row, None where it has none. `message` groups the
    blocks of one message; "" lets the reader make one from the row. `tentative` marks an answer
    that a later row may still retract: the reader keeps its row within reach. `aside` marks what
    the user said while calls are running: they may still be answered.
    """

    place: Place
    kind: Kind
    text: str
    record: str | None = None
    block: int = 0
    message: str = ""
    at: str = ""
    tentative: bool = False
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call was asked for. It becomes an entry once its result is seen, or cannot come."""

    place: Place
    call: str
    tool: str
    arguments: str
    record: str | None = None
    block: int = 0
    message: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a tool call."""

    place: Place
    call: str
    result: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction boundary. `record` identifies it, so that one boundary counts once."""

    place: Place
    record: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Retracted:
    """The newest tentative message of this place was none: it is hidden, not removed."""

    place: Place


@dataclass(frozen=True, slots=True)
class Removed:
    """A message, named by its `message` or its record, was taken back: it is hidden."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The session is over: open tool calls will get no result."""

    place: Place


@dataclass(frozen=True, slots=True)
class Growing:
    """What a record says so far: its harness rewrites it whole, under the same id, as it grows.

    The reader keeps the newest state of it until another event of its place comes, or its source
    is settled.
    """

    place: Place
    record: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Lookback:
    """This row speaks of rows before the one where reading resumed: it must begin at the start."""

    place: Place


Event = (
    Described
    | Said
    | Called
    | Answered
    | Compacted
    | Retracted
    | Removed
    | Ended
    | Growing
    | Lookback
)

Fold = Callable[[Json], Iterable[Event]]
"""Turns the rows of one file, in order, into events. May keep state between rows of that file."""


class Adapter(Protocol):
    """One harness's transcript format. Pure: decoded rows in, events out.

    `ahead` are the first rows of the file (at most 20); both methods get them, also when reading
    resumes in the middle of the file, so a fold can always learn the session from the head.
    """

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        ...

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the first rows of a session of this harness."""
        ...

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        ...
