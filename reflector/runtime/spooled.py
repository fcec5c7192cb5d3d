"""The drainer: what hooks spooled is journaled, decided on, and launched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from reflector.core.errors import ReflectorError, TranscriptError
from reflector.core.schedule import Event, Idle, Settled
from reflector.runtime import heard as hearing
from reflector.runtime import hook_gate, notice_file, notices, plugged
from reflector.runtime.background.beginning import begin
from reflector.runtime.front import SUPERVISOR, decide
from reflector.runtime.heard import Heard
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import Context, context_for
from reflector.store import spool
from reflector.store.locks import Lock
from reflector.store.spool import Mark, Spooled

_AT_ONCE = 10_000
"""Lines of the spool that are held in memory; what is left is read in the next round."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What one call dealt with. `trouble` are sentences about events that could not be."""

    events: int = 0
    entries: int = 0
    trouble: tuple[str, ...] = ()
    busy: bool = False


def drain_spool(
    any_context: Context, supervisor: Sequence[str] = SUPERVISOR, *, launch: bool = True
) -> Drained:
    """Deal with everything that was spooled, in the order in which it came.

    With `launch` off what is reserved is left for the caller to run.

    Only one process drains a home at a time. A hook that spooled while we held the lock relied on
    us, so the spool is looked at once more after the lock is let go.
    """
    hook_gate.refresh(any_context)
    home = any_context.home
    folder = home.path / "spool"
    total = Drained()
    while spool.pending(folder):
        lock = Lock(home.path / "locks" / "ingest.lock")
        if not lock.take():
            return Drained(total.events, total.entries, total.trouble, busy=True)
        try:
            total = _drain(any_context, folder, total, supervisor if launch else None)
        finally:
            lock.release()
    return total


def _drain(
    found: Context, folder: Path, before: Drained, supervisor: Sequence[str] | None
) -> Drained:
    said, lost, marks = _said(folder)
    turn = _Turn(found)
    for heard in _by_session(said):
        with turn.careful():
            turn.hear(heard)
    for harness, theirs in turn.began.values():
        with turn.careful():
            turn.catch_up(harness, theirs)
    # Once for what many hooks said: they tell the same about the journal as it is now.
    for (_, event), theirs in turn.asked.items():
        with turn.careful():
            decide(theirs, event, supervisor)
    for theirs in turn.met.values() if supervisor is not None else ():
        with turn.careful():
            begin(theirs)
    for slug, theirs in turn.met.items():
        with turn.careful(), theirs.state() as state, state.transaction() as connection:
            plugged.note(connection, turn.last[slug])
        notice_file.refresh(theirs)
    trouble = [*before.trouble, *turn.trouble]
    if lost:
        spool.note_lost(folder, lost, found.ambient.now())
        trouble.append(f"{len(lost)} hook events could not be passed on whole.")
    if marks:
        spool.save(folder, marks)
    return Drained(
        before.events + len(said),
        before.entries + turn.entries,
        tuple(dict.fromkeys(trouble)),
    )


def _said(folder: Path) -> tuple[list[Spooled], list[str], list[Mark]]:
    """Return what hooks said, what they could not say, and how far the spool was read."""
    said: list[Spooled] = []
    lost: list[str] = []
    marks: dict[str, Mark] = {}
    for spooled, mark in islice(spool.lines(folder), _AT_ONCE):
        marks[mark.file] = mark
        if spooled is None or spooled.lost:
            lost.append(spooled.lost if spooled else "torn")
        else:
            said.append(spooled)
    return said, lost, list(marks.values())


def _by_session(said: Sequence[Spooled]) -> Iterator[Heard]:
    """Yield the events of each session together, the sessions in the order of their first one."""
    found: dict[tuple[str, ...], list[Spooled]] = {}
    for each in said:
        key = (each.harness, each.session, each.transcript, each.cwd)
        found.setdefault(key, []).append(each)
    for events in found.values():
        yield Heard(events)


@dataclass(slots=True)
class _Turn:
    """One reading of the spool: what it found, and whom it met."""

    context: Context
    entries: int = 0
    trouble: list[str] = field(default_factory=list)
    met: dict[str, Context] = field(default_factory=dict)
    last: dict[str, dict[str, Spooled]] = field(default_factory=dict)
    began: dict[tuple[str, str], tuple[str, Context]] = field(default_factory=dict)
    asked: dict[tuple[str, Event], Context] = field(default_factory=dict)

    @contextmanager
    def careful(self) -> Iterator[None]:
        """Note the trouble with something: it keeps nothing else out."""
        try:
            yield
        except (ReflectorError, OSError) as error:
            self.trouble.append(str(error))

    def hear(self, heard: Heard) -> None:
        """Journal what a session's events tell of, and note what is to be decided."""
        last = heard.last
        if hearing.own(self.context, last.cwd):
            return
        theirs = context_for(self.context, last.cwd)
        slug = theirs.agent.slug
        known = self.last.setdefault(slug, {})
        known[last.harness] = max(known.get(last.harness, last), last, key=lambda each: each.at)
        self.met[slug] = theirs
        new, conversation = hearing.journal(theirs, heard)
        self.entries += new
        for event in heard.asks(conversation):
            self.asked.setdefault((slug, event), theirs)
        if "began" in heard.meanings:
            self.began.setdefault((slug, last.harness), (last.harness, theirs))
        self._told(theirs, heard)

    def _told(self, theirs: Context, heard: Heard) -> None:
        for stamp in {each.told for each in heard.events if each.told}:
            with theirs.state() as state, state.transaction() as connection:
                notices.told(theirs, connection, stamp)

    def catch_up(self, harness: str, theirs: Context) -> None:
        """Read what earlier sessions left unread, and ask for what is due since then (F5)."""
        slug = theirs.agent.slug
        theirs.require()
        if theirs.settings.flag("diary.enabled"):
            from reflector.runtime.diary.shown import leave_given  # noqa: PLC0415 - most keep none

            leave_given(theirs)
        for place in hearing.unread(theirs, harness):
            try:
                self.entries += ingest(theirs, place, Quiet()).entries
            except TranscriptError:
                continue  # it is marked as unreadable
        if not any(whose == slug and isinstance(event, Settled) for whose, event in self.asked):
            self.asked[slug, Settled(success=True, origin="catch-up")] = theirs
        self.asked.setdefault((slug, Idle(origin="catch-up")), theirs)
