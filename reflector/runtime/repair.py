"""What `doctor --fix` may repair: only what is provably safe, and each step says what it did."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime import log
from reflector.runtime.decisions.names import SLOT as DECISIONS
from reflector.runtime.experiences.names import PIPELINE as EXPERIENCES
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import REFLECTION, Quiet, bench_for, drain
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.recovery import recover
from reflector.runtime.sweep import sweep
from reflector.runtime.undo import remember_undone
from reflector.runtime.wiring import Context
from reflector.store import decisions, imports, journal, rescue, scheduling, segments
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_SNAPSHOT = re.compile(r"Snapshot: (\S+) (\S+?)\.\.(\S+)\Z")
_ALL = 1_000_000
_AGAIN = "`reflector doctor --fix`"
_STREAMS = {
    "api:": (
        "conversations of programs that embed Reflector",
        "each is journaled again as soon as its program appends to it",
    ),
    "opencode:": ("sessions of OpenCode", "each is journaled again when its next turn ends"),
}
"""Sources that are no files: whose they are, and what brings them back."""


def repair(context: Context) -> list[str]:
    """Repair what can be repaired and return a sentence for each thing that was done."""
    context.require()
    done = [*_database(context), *_lock(context)]
    done += [f"run {run.id} brought to its end: {run.outcome}" for run in _work(context)]
    with log.opened(context.agent.log, identity=context.agent.identity) as logger:
        receipts = sweep(context, logger, dry_run=False)
    done += [f"swept {each.kind} {each.target}" for each in receipts if each.removed]
    return done


def _work(context: Context) -> list[Run]:
    done = [*(drain(context, REFLECTION, Quiet()) or ())]
    for slot in (DECISIONS, EXPERIENCES):
        with bench_for(context, slot, Quiet()) as bench:
            done += recover(bench, slot) if bench else ()
    return done


def _lock(context: Context) -> Iterator[str]:
    lock = context.agent.repo / ".git" / "index.lock"
    before = lock.exists()
    with memory_write(context):  # mends what a dead one of us left
        if before and not lock.exists():
            yield "removed the index.lock that a dead Reflector process had left"


def _database(context: Context) -> Iterator[str]:
    """Move a damaged database aside, read the known transcripts again, set each cursor from git."""
    aside = rescue.move_aside_if_damaged(context.agent.state, context.ambient)
    if aside is not None:
        yield f"moved the damaged state database aside, to {aside.name}"
        with context.state() as state, state.transaction() as connection:
            scheduling.set_mark(connection, scheduling.JOURNAL_LOST, aside.name)
    with context.state() as state:
        lost = scheduling.mark(state.connection, scheduling.JOURNAL_LOST)
    if lost is None:
        return
    known = rescue.known(context.agent.path / lost)
    unread = 0
    for path in known.files:
        try:
            yield f"read {path} again: {ingest(context, Path(path), Quiet()).entries} entries"
        except ReflectorError as error:
            unread += 1
            yield f"could not read {path} again: {error.message}"
    yield from _cursors(context, known, unread)
    yield from _messages(context)
    if undone := remember_undone(context):
        yield f"remembered what {undone} undone runs had written"


def _messages(context: Context) -> Iterator[str]:
    """Let no message wait that was read again: what was decided in it is in the files, or paid for."""
    with context.state() as state, state.transaction() as connection:
        found = decisions.jobs(connection)
        for job in found:
            decisions.skip_job(connection, job, "restored", context.ambient.now())
        segments.pass_by(connection)  # nor does anything for extraction, for the same reason
    if found:
        yield f"messages that are not read for decisions a second time: {len(found)}"


def _cursors(context: Context, known: rescue.Known, unread: int) -> Iterator[str]:
    """Set each cursor behind what a merge on main says was read, and behind what was passed by.

    Automatic runs stay off as long as a transcript may still bring back what they would read twice.
    """
    read = _read(context)
    with context.state() as state, state.transaction() as connection:
        for each in read:
            journal.pass_entry(connection, each[1], each[3])
        again = {
            key
            for key, lost in known.passed_by.items()
            if imports.pass_again(connection, key, lost)
        }
        missing = {each[1] for each in read if not journal.conversation(connection, each[1])}
        gone = known.passed_by.keys() - again - missing
        if not missing and not (unread and gone):
            scheduling.clear_mark(connection, scheduling.JOURNAL_LOST)
    yield f"set the cursors from {len(read)} snapshots that main tells of"
    if again:
        yield f"passed by again what an import had passed by: {len(again)} conversations"
    yield from waiting(known.streams, missing)
    if gone and unread:
        yield (
            f"{len(gone)} imported conversations are not in the journal yet, such as {min(gone)}: "
            f"mend what could not be read, then run {_AGAIN} again"
        )
    elif gone:
        yield (
            f"{len(gone)} imported conversations are not in the journal as they were, such as "
            f"{min(gone)}: their transcripts are gone or were rewritten, nothing waits for them"
        )


def _read(context: Context) -> list[re.Match[str]]:
    """Return the snapshots that merges on main tell of, oldest first.

    Those of extractions moved no cursor of reflection.
    """
    with Reads(context.agent.repo) as reads:
        head = reads.resolve(MAIN)
        merges = reads.log(head, limit=_ALL) if head else ()
        return [
            match
            for commit in reversed(merges)
            if not commit.message.startswith(f"merge({EXPERIENCES})")
            for line in commit.message.splitlines()
            if (match := _SNAPSHOT.match(line))
        ]


def waiting(streams: Mapping[str, str], missing: Collection[str]) -> Iterator[str]:
    """Say which conversations are not in the journal yet, and what brings them there.

    `streams` are the sources that are no files, with their conversations; `missing` are those that
    main tells of.
    """
    absent = set(missing)
    for start, (whose, when) in _STREAMS.items():
        theirs = {name: key for name, key in streams.items() if name.startswith(start)}
        held = absent.intersection(theirs.values())
        absent -= held
        if theirs:
            then = f"; then run {_AGAIN} again" if held else ""
            yield f"{len(theirs)} {whose}, such as {min(theirs)}, are in no file: {when}{then}"
    if absent:
        yield (
            f"{len(absent)} conversations are not in the journal yet, such as {min(absent)}: "
            f"ingest their transcripts, then run {_AGAIN} again"
        )
