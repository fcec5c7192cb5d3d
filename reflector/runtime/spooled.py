"""The drainer: what hooks spooled is journaled, decided on, and launched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from reflector.core.entry import ConversationKey
from reflector.core.errors import ReflectorError, TranscriptError
from reflector.core.schedule import Event, Settled, Shutdown
from reflector.harness.meanings import meaning
from reflector.harness.places import second_places
from reflector.runtime import hook_gate
from reflector.runtime.decisions.beginning import begin
from reflector.runtime.front import SUPERVISOR, handle
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.wiring import Context, context_for
from reflector.store import spool
from reflector.store.locks import Lock
from reflector.store.spool import Mark, Spooled


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
    events, entries, trouble = before.events, before.entries, list(before.trouble)
    lost: list[str] = []
    marks: dict[str, Mark] = {}
    asked: dict[tuple[str, Event], Context] = {}
    heard: dict[str, Context] = {}
    for spooled, mark in spool.lines(folder):
        marks[mark.file] = mark
        if spooled is None or spooled.lost:
            lost.append(spooled.lost if spooled else "torn")
            continue
        events += 1
        try:
            theirs = context_for(found, spooled.cwd)
            entries += _heard(theirs, spooled, asked)
            heard[theirs.agent.slug] = theirs
        except (ReflectorError, OSError) as error:
            trouble.append(str(error))
    # Once for what many hooks said: they tell the same about the journal as it is now.
    for (_, event), theirs in asked.items():
        trouble += _tried(partial(handle, theirs, event, supervisor))
    for theirs in heard.values() if supervisor is not None else ():
        trouble += _tried(partial(begin, theirs))
    if lost:
        spool.note_lost(folder, lost, found.ambient.now())
        trouble.append(f"{len(lost)} hook events could not be passed on whole.")
    if marks:
        spool.save(folder, marks.values())
    return Drained(events, entries, tuple(trouble))


def _tried(step: Callable[[], object]) -> list[str]:
    """Do something for one identity; its trouble stays its own."""
    try:
        step()
    except (ReflectorError, OSError) as error:
        return [str(error)]
    return []


def _heard(theirs: Context, spooled: Spooled, asked: dict[tuple[str, Event], Context]) -> int:
    """Journal what an event tells of, and note what is to be decided; return the new entries."""
    new, conversation = _read(theirs, spooled)
    if (event := _event(spooled, conversation)) is not None:
        asked[theirs.agent.slug, event] = theirs
    return new


def _event(spooled: Spooled, conversation: str) -> Event | None:
    """Return what the scheduler is told; None for what is only journaled."""
    match meaning(spooled.harness, spooled.event):
        case "settled" if not spooled.busy:
            return Settled(success=True, origin="hook")
        case "ended":
            return Shutdown(conversation, origin="hook")
        case _:
            return None


def _read(theirs: Context, spooled: Spooled) -> tuple[int, str]:
    """Journal the transcript that an event names; return new entries and whose they are."""
    named = str(ConversationKey(spooled.harness, spooled.session)) if spooled.session else ""
    if not spooled.transcript:
        return 0, named
    theirs.require()
    try:
        done = ingest(theirs, _place(spooled), Quiet())
    except TranscriptError:
        # A session that was never written: the next event tries again.
        return 0, named
    return done.entries, done.conversation


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
    return max(found, key=_changed, default=named)


def _changed(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0
