"""What `doctor --fix` may repair: only what is provably safe, and each step says what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime import log
from reflector.runtime.decisions.names import SLOT as DECISIONS
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import REFLECTION, Quiet, bench_for, drain
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.recovery import recover
from reflector.runtime.sweep import sweep
from reflector.runtime.undo import remember_undone
from reflector.runtime.wiring import Context
from reflector.store import decisions, journal, rescue, scheduling
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_SNAPSHOT = re.compile(r"Snapshot: (\S+) (\S+?)\.\.(\S+)\Z")
_ALL = 1_000_000


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
    done = drain(context, REFLECTION, Quiet()) or []
    with bench_for(context, DECISIONS, Quiet()) as bench:
        return [*done, *(recover(bench, DECISIONS) if bench else ())]


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
    known = rescue.known_sources(context.agent.path / lost)
    for path in known:
        try:
            yield f"read {path} again: {ingest(context, Path(path), Quiet()).entries} entries"
        except ReflectorError as error:
            yield f"could not read {path} again: {error.message}"
    yield from _cursors(context)
    yield from _messages(context)
    if undone := remember_undone(context):
        yield f"remembered what {undone} undone runs had written"


def _messages(context: Context) -> Iterator[str]:
    """Let no message wait that was read again: what was decided in it is in the files, or paid for."""
    with context.state() as state, state.transaction() as connection:
        found = decisions.jobs(connection)
        for job in found:
            decisions.skip_job(connection, job, "restored", context.ambient.now())
    if found:
        yield f"messages that are not read for decisions a second time: {len(found)}"


def _cursors(context: Context) -> Iterator[str]:
    """Set each cursor behind the last entry that a merge on main says was read."""
    with Reads(context.agent.repo) as reads:
        head = reads.resolve(MAIN)
        merges = reads.log(head, limit=_ALL) if head else ()
        read = [
            match
            for commit in reversed(merges)
            for line in commit.message.splitlines()
            if (match := _SNAPSHOT.match(line))
        ]
    with context.state() as state, state.transaction() as connection:
        for match in read:
            journal.pass_entry(connection, match[1], match[3])
        missing = {match[1] for match in read if not journal.conversation(connection, match[1])}
        if not missing:
            scheduling.clear_mark(connection, scheduling.JOURNAL_LOST)
    yield f"set the cursors from {len(read)} snapshots that main tells of"
    if missing:
        yield (
            f"{len(missing)} conversations are not in the journal yet, such as {min(missing)}: "
            "ingest their transcripts, then run `reflector doctor --fix` again"
        )
