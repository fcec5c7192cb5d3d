"""The drainer: what hooks spooled is journaled, decided on, and launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import ReflectorError, TranscriptError
from reflector.core.schedule import Settled, Shutdown
from reflector.harness.meanings import Meaning, meaning
from reflector.runtime import hook_gate
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
    last: Mark | None = None
    settled: dict[tuple[str, Meaning], tuple[Context, Spooled]] = {}
    for spooled, mark in spool.lines(folder):
        last = mark
        if spooled is None:
            continue
        events += 1
        try:
            theirs = context_for(found, spooled.cwd)
            entries += _read(theirs, spooled)
            means = meaning(spooled.harness, spooled.event)
            settled[theirs.agent.identity, means] = (theirs, spooled)
        except ReflectorError as error:
            trouble.append(error.message)
    for (_, means), (theirs, spooled) in settled.items():
        try:
            _decide(theirs, means, spooled, supervisor)
        except ReflectorError as error:
            trouble.append(error.message)
    if last is not None:
        spool.save(folder, last)
    return Drained(events, entries, tuple(trouble))


def _read(theirs: Context, spooled: Spooled) -> int:
    if not spooled.transcript:
        return 0
    theirs.require()
    try:
        return ingest(theirs, Path(spooled.transcript), Quiet()).entries
    except TranscriptError:
        # A session that was never written, or is written elsewhere: the next event tries again.
        return 0


def _decide(
    theirs: Context, means: Meaning, spooled: Spooled, supervisor: Sequence[str] | None
) -> None:
    match means:
        case "settled" if not spooled.busy:
            handle(theirs, Settled(success=True, origin="hook"), supervisor)
        case "ended":
            handle(theirs, Shutdown(origin="hook"), supervisor)
        case _:
            pass  # what was said is journaled; nothing starts of it
