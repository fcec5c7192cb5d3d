"""Turns the events of rows into journal-ready records: identity, and calls with their results."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from reflector.core.entry import (
    ConversationKey,
    Entry,
    Kind,
    hashed_entry_id,
    native_entry_id,
    safe_part,
)
from reflector.harness.events import (
    Answered,
    Called,
    Compacted,
    Described,
    Ended,
    Event,
    Growing,
    Lookback,
    Place,
    Removed,
    Retracted,
    Said,
)
from reflector.harness.lines import Row

REACH = 64 * 1024 * 1024
"""Bytes behind which an open call is given up: what is read again, and kept, has to end."""


@dataclass(frozen=True, slots=True)
class Appended:
    """An entry of a conversation. `parent` is set for the conversation of a subagent.

    For a tool call `until` is the time of its result and `cwd` the folder it was asked for in: both
    may have changed since. "" where the source does not say.
    """

    key: ConversationKey
    parent: ConversationKey | None
    entry: Entry
    until: str = field(default="", compare=False)
    cwd: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class About:
    """Something became known about a conversation. Empty fields say nothing new."""

    key: ConversationKey
    parent: ConversationKey | None
    cwd: str
    title: str
    headless: bool


@dataclass(frozen=True, slots=True)
class Boundary:
    """The conversation was compacted here. One boundary has one `record`, however often read."""

    key: ConversationKey
    record: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """The message `message_id` of a conversation was none, or was taken back."""

    key: ConversationKey
    message_id: str = ""


Record = Appended | About | Boundary | Hidden


@dataclass(frozen=True, slots=True)
class _Open:
    place: Place
    call: str
    at: int
    cwd: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class _Held:
    start: int
    growing: Growing


class RowNames:
    """Names rows without an id of their own: a hash, and how many equal rows came before.

    `before` are the counts at the place where reading began.
    """

    def __init__(self, before: Mapping[str, int]) -> None:
        """Begin with the counts of the rows that are not read again."""
        self._before = before
        self._seen: dict[str, int] = {}
        self._passed: dict[str, int] = {}
        self._pending: deque[tuple[int, str]] = deque()

    def name(self, row: Row) -> tuple[str, int]:
        """Return hash and ordinal of the row; to be asked once per row."""
        digest = hashlib.sha256(row.raw.strip()).hexdigest()[:16]
        seen = self._seen.get(digest, 0)
        self._seen[digest] = seen + 1
        self._pending.append((row.start, digest))
        return digest, self._before.get(digest, 0) + seen

    def passed(self, resume_at: int) -> dict[str, int]:
        """Return the counts that changed since the last call, up to this byte."""
        changed = {}
        while self._pending and self._pending[0][0] < resume_at:
            digest = self._pending.popleft()[1]
            self._passed[digest] = self._passed.get(digest, 0) + 1
            changed[digest] = self._before.get(digest, 0) + self._passed[digest]
        return changed


@dataclass(slots=True)
class Pairing:
    """The state between rows: open calls, growing records, answers that may be retracted."""

    harness: str
    names: RowNames
    late: int = 0
    _open: dict[str, _Open] = field(default_factory=dict)
    _waiting: dict[tuple[Place, str], deque[str]] = field(default_factory=dict)
    _tentative: dict[Place, tuple[str, int]] = field(default_factory=dict)
    _held: dict[Place, _Held] = field(default_factory=dict)
    _given: dict[str, int] = field(default_factory=dict)
    _since: int | None = None
    _keys: dict[Place, tuple[ConversationKey, ConversationKey | None]] = field(default_factory=dict)
    _cwd: dict[Place, str] = field(default_factory=dict)
    _row: Row | None = None
    _name: tuple[str, int] | None = None

    def begin(self, row: Row) -> Iterator[Record]:
        """Go on to this row; yields the calls that are now too far behind."""
        self._row, self._name = row, None
        while self._open and (first := next(iter(self._open.values()))).at < row.start - REACH:
            yield self._close(first, None)

    def take(self, event: Event) -> Iterator[Record]:
        """Yield what the journal must know of an event of the present row."""
        if self._held and not isinstance(event, Described | Growing | Removed | Lookback):
            yield from self._release(event.place)
        match event:
            case Said():
                yield from self._said(event)
            case Called():
                self._called(event)
            case Answered():
                yield from self._answered(event)
            case Described(place, cwd, title, headless):
                self._cwd[place] = cwd or self._cwd.get(place, "")
                yield About(*self.keys(place), cwd, title, headless)
            case Compacted() | Retracted() | Ended():
                yield from self._turned(event)
            case Growing() | Removed() | Lookback():
                yield from self._rewritten(event)
            case _:
                assert_never(event)

    def settle(self) -> Iterator[Record]:
        """Yield what was held back because more might have followed: the turn has ended.

        A subagent whose records do not grow may work on behind the end of the turn.
        """
        for place in list(self._held):
            yield from self._release(place)
            yield from self._no_answer_comes(place)
        for call in list(self._open.values()):
            if not call.place.agent:
                yield self._close(call, None)

    def close(self) -> Iterator[Record]:
        """Yield whatever is still open, in every place: the source is over."""
        yield from self.settle()
        for call in list(self._open.values()):
            yield self._close(call, None)

    def anchor(self, at: int) -> int:
        """Return where reading must resume when it stops at this byte."""
        first = (call.at for call in self._open.values())
        answers = (start for _, start in self._tentative.values())
        growing = (held.start for held in self._held.values())
        return min(next(first, at), *answers, *growing, at)

    def keys(self, place: Place) -> tuple[ConversationKey, ConversationKey | None]:
        """Return the conversation of a place, and its parent if it is a subagent's."""
        known = self._keys.get(place)
        if known is None:
            main = ConversationKey(self.harness, safe_part(place.session))
            own = ConversationKey(self.harness, main.session, safe_part(place.agent))
            known = self._keys[place] = (own, main) if place.agent else (main, None)
        return known

    def _rewritten(self, event: Growing | Removed | Lookback) -> Iterator[Record]:
        if isinstance(event, Removed):
            yield self._removed(event.place, event.message)
        if not isinstance(event, Growing):
            return
        held = self._held.get(event.place)
        if held is not None and held.growing.record != event.record:
            yield from self._release(event.place)
            held = None
        start = held.start if held else self._here.start
        self._held[event.place] = _Held(start, event)

    def _release(self, place: Place) -> Iterator[Record]:
        held = self._held.pop(place, None)
        if held is None:
            return
        growing = held.growing
        now = hash(growing.events)
        self.late += self._given.setdefault(growing.record, now) != now
        # An open call must be found again where its record began, not in the row that freed it.
        self._since = held.start
        for event in growing.events:
            yield from self.take(event)
        self._since = None

    def _removed(self, place: Place, message: str) -> Record:
        held = self._held.get(place)
        if held is not None and held.growing.record == message:
            del self._held[place]
        gone = safe_part(message)
        for call in [call for call in self._open.values() if call.entry.message_id == gone]:
            self._forget(call)
        return Hidden(self.keys(place)[0], gone)

    def _turned(self, event: Compacted | Retracted | Ended) -> Iterator[Record]:
        place = event.place
        if isinstance(event, Retracted):
            if place in self._tentative:
                yield Hidden(self.keys(place)[0], self._tentative.pop(place)[0])
            return
        yield from self._no_answer_comes(place)
        self._tentative.pop(place, None)
        if isinstance(event, Compacted):
            yield Boundary(self.keys(place)[0], self._record(event.record))

    def _said(self, event: Said) -> Iterator[Record]:
        if event.kind is Kind.USER and not event.aside:
            self._tentative.pop(event.place, None)
            yield from self._no_answer_comes(event.place)
        entry = self._entry(event, event.kind, text=event.text)
        if event.tentative:
            self._tentative[event.place] = (entry.message_id, self._start)
        yield Appended(*self.keys(event.place), entry)

    def _called(self, event: Called) -> None:
        entry = self._entry(event, Kind.TOOL_CALL, tool=event.tool, arguments=event.arguments)
        if entry.id not in self._open:
            cwd = self._cwd.get(event.place, "")
            self._open[entry.id] = _Open(event.place, event.call, self._start, cwd, entry)
            self._waiting.setdefault((event.place, event.call), deque()).append(entry.id)

    def _answered(self, event: Answered) -> Iterator[Record]:
        waiting = self._waiting.get((event.place, event.call))
        if waiting:
            yield self._close(self._open[waiting[0]], event.result, event.at)
        else:
            self.late += 1

    def _no_answer_comes(self, place: Place) -> Iterator[Record]:
        for call in [call for call in self._open.values() if call.place == place]:
            yield self._close(call, None)

    def _close(self, call: _Open, result: str | None, until: str = "") -> Record:
        self._forget(call)
        asked = call.entry
        entry = Entry(
            asked.id,
            asked.message_id,
            Kind.TOOL_CALL,
            tool=asked.tool,
            arguments=asked.arguments,
            result=result,
            at=asked.at,
        )
        return Appended(*self.keys(call.place), entry, until, call.cwd)

    def _forget(self, call: _Open) -> None:
        waiting = self._waiting[call.place, call.call]
        waiting.remove(call.entry.id)
        if not waiting:
            del self._waiting[call.place, call.call]
        del self._open[call.entry.id]

    def _entry(
        self,
        event: Said | Called,
        kind: Kind,
        *,
        text: str = "",
        tool: str = "",
        arguments: str = "",
    ) -> Entry:
        if event.record is None:
            digest, ordinal = self._named
            key = self.keys(event.place)[0]
            own = hashed_entry_id(key, digest, ordinal, event.block)
        else:
            own = native_entry_id(self.harness, event.record, event.block)
        message = safe_part(event.message) if event.message else self._record(event.record)
        return Entry(own, message, kind, text, tool, arguments, None, event.at)

    def _record(self, native: str | None) -> str:
        if native is not None:
            return safe_part(native)
        digest, ordinal = self._named
        return f"{digest}.{ordinal}"

    @property
    def _here(self) -> Row:
        if self._row is None:
            raise RuntimeError("an event came before its row")
        return self._row

    @property
    def _start(self) -> int:
        return self._here.start if self._since is None else self._since

    @property
    def _named(self) -> tuple[str, int]:
        if self._name is None:
            self._name = self.names.name(self._here)
        return self._name
