"""What hooks told of one session, and the transcripts that are read because of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reflector.core.entry import ConversationKey
from reflector.core.errors import TranscriptError
from reflector.core.schedule import Event, Settled, Shutdown
from reflector.harness.meanings import Meaning, meaning
from reflector.harness.places import Beside, second_places, subagents
from reflector.runtime import opencode
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import Context
from reflector.store import sources
from reflector.store.sources import Extent
from reflector.store.spool import Spooled

_OPENCODE = "opencode"
_MARK_BYTES = 1 << 16
_FORMS = {"oh-my-pi": "pi"}
"""Harnesses whose transcripts have the form of another one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Everything that hooks told of one session, in order: what is read is read once."""

    events: Sequence[Spooled]

    @property
    def last(self) -> Spooled:
        """Return the last event."""
        return self.events[-1]

    @property
    def meanings(self) -> list[Meaning]:
        """Return what each event means. A turn that ends beside work in the background has not."""
        return [_meaning(each) for each in self.events]

    @property
    def settled(self) -> bool:
        """Tell whether nothing was said since the last turn ended."""
        return self.meanings[-1] in ("settled", "ended")

    def asks(self, conversation: str) -> Iterator[Event]:
        """Yield what the scheduler is told, once each."""
        found = self.meanings
        if "settled" in found:
            yield Settled(success=True, origin="hook")
        if "ended" in found:
            yield Shutdown(conversation, origin="hook")


def _meaning(spooled: Spooled) -> Meaning:
    found = meaning(spooled.harness, spooled.event, spooled.source)
    return "journaled" if found == "settled" and spooled.busy else found


def own(context: Context, cwd: str) -> bool:
    """Tell whether a session runs inside our own home: memory would feed on itself (F103)."""
    return any(
        Path(each).is_relative_to(context.home.path)
        for each in (os.path.normpath(cwd or "/"), os.path.realpath(cwd or "/"))
    )


def journal(context: Context, heard: Heard) -> tuple[int, str]:
    """Journal what the events point at; return the new entries and whose the session is."""
    last = heard.last
    named = str(ConversationKey(last.harness, last.session)) if last.session else ""
    if last.harness == _OPENCODE and not last.transcript:
        return _exported(context, heard), named
    if not last.transcript:
        return 0, named
    context.require()
    entries, conversation = _file(context, _place(last), settled=heard.settled)
    worth = ("settled", "ended", "compacting", "journaled")
    if any(each in worth for each in heard.meanings):
        entries += sum(
            _file(context, place, settled=heard.settled)[0] for place in _others(context, heard)
        )
    return entries, conversation or named


def _file(context: Context, place: Path, *, settled: bool) -> tuple[int, str]:
    try:
        done = ingest(context, place, Quiet(), settled=settled)
    except TranscriptError:
        # A session that was never written: the next event tries again.
        return 0, ""
    return done.entries, done.conversation


def _exported(context: Context, heard: Heard) -> int:
    """Ask OpenCode for a session whose turn ended; it starts a program, so not at each message."""
    meanings, last = heard.meanings, heard.last
    if not any(each in ("settled", "compacting", "ended", "journaled") for each in meanings):
        return 0
    context.require()
    session = opencode.Session(last.session, last.cwd, last.opencode)
    try:
        return opencode.journal(context, session, Quiet(), settled=heard.settled).entries
    except TranscriptError:
        if meanings[-1] == "ended":  # it was deleted: what its turns said was read before
            return 0
        raise


# Where they lie


def _place(spooled: Spooled) -> Path:
    """Return where the transcript lies: where the hook says, else at the second place it may be."""
    named = Path(spooled.transcript)
    if os.path.lexists(named):
        return named
    found = [
        place
        for folder, pattern in second_places(spooled.harness, PurePosixPath(spooled.transcript))
        for place in Path(folder).glob(pattern)
    ]
    return max(found, key=lambda place: (_changed(place), place), default=named)


def _changed(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0


def _others(context: Context, heard: Heard) -> Iterator[Path]:
    """Yield the transcripts of a session's subagents in which something is left to read."""
    last = heard.last
    found = [Path(each.agent_transcript) for each in heard.events if each.agent_transcript]
    places = subagents(last.harness, PurePosixPath(_place(last)), last.session)
    for beside in places:
        found += sorted(Path(beside.folder).glob(beside.pattern))
    known = _extents(context, last.harness) if found else {}
    for place in dict.fromkeys(found):
        if _left(place, known) and _belongs(place, places):
            yield place


def unread(context: Context, harness: str) -> Iterator[Path]:
    """Yield the known transcripts of a harness that changed since they were read."""
    for path, extent in _extents(context, harness).items():
        place = Path(path)
        if place.is_absolute() and _left(place, {path: extent}):
            yield place


def _extents(context: Context, harness: str) -> dict[str, Extent]:
    with context.state() as state:
        return sources.extents(state.connection, _FORMS.get(harness, harness))


def _left(place: Path, known: dict[str, Extent]) -> bool:
    """Tell whether a file is there and not wholly read."""
    try:
        found = place.stat()
        extent = known.get(os.path.realpath(place))
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and (extent is None or not extent.is_all_of(found))


def _belongs(place: Path, places: Sequence[Beside]) -> bool:
    """Tell whether a file in a folder that sessions share names this one in its first rows."""
    shared = [each.mark for each in places if each.mark and str(place.parent) == each.folder]
    if not shared:
        return True
    try:
        with place.open("rb") as stream:
            head = stream.read(_MARK_BYTES)
    except OSError:
        return False
    return any(mark in head for mark in shared)
