"""What a run's end changes besides its row: back-off, suspicion, park, what is set aside."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from reflector.core import backoff, park
from reflector.core.ambient import instant, stamp
from reflector.core.backoff import Backoff, SetAside
from reflector.core.completion import Completed, Ended, Record, complete
from reflector.core.failure import kind_of
from reflector.core.park import Parked
from reflector.core.run import Outcome, Run, Settlement, consumes
from reflector.core.snapshot import Snapshot
from reflector.store import journal, segments
from reflector.store.scheduling import (
    clear_mark,
    mark,
    park_state,
    save_park,
    set_mark,
    suspect_from,
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a settled run's consequences depend on besides itself.

    `chance` in [0, 1) spreads waits, `settings` is the fingerprint of the route's settings.
    """

    now: datetime
    chance: float
    max_bytes: int
    settings: str


def after_run(
    connection: sqlite3.Connection, run: Run, end: Settlement, given: Circumstances
) -> bool:
    """Write what a run's end changes besides its row and the cursors that `settle` moves.

    The cursors of extraction are moved here, in the same transaction. Tells if its route parked
    just now.
    """
    # Extraction has cursors and failures of its own: its faults never hold reflection up.
    extracts = run.request.pipeline == "experiences"
    taken = [replace(each, mode="advance") for each in run.snapshots] if extracts else run.snapshots
    record, smallest = (segments.record, segments.smallest) if extracts else (_record, _is_smallest)
    route = _route(run, end) if extracts else run.request.engine
    done = complete(
        Ended(
            run=run.id,
            pipeline=run.request.pipeline,
            automatic=run.request.trigger != "manual",
            dry_run=run.request.dry_run,
            outcome=end.outcome,
            reason=end.reason,
            detail=end.detail,
            snapshots=tuple(taken),
            smallest=frozenset(each.conversation for each in taken if smallest(connection, each)),
            settings=given.settings,
        ),
        {each.conversation: record(connection, each.conversation) for each in taken},
        park_state(connection, route),
        given.max_bytes,
        given.now,
        given.chance,
    )
    if extracts:
        _follow_segments(connection, done)
        if done.failure is None and not consumes(end.outcome):
            _let_wait(connection, run, end, given)
        elif done.failure is None and not run.request.dry_run:
            return _end_park(connection, route)
    else:
        _follow(connection, done)
    for aside in done.set_aside:
        _set_aside(connection, run.id, aside, stamp(given.now))
    save_park(connection, route, done.park)
    return done.parked


def _follow(connection: sqlite3.Connection, done: Completed) -> None:
    for aside in done.set_aside:
        journal.consume(connection, aside.snapshot)
    for conversation, record in done.records.items():
        _save_record(connection, conversation, record)


def _follow_segments(connection: sqlite3.Connection, done: Completed) -> None:
    for passed in (*done.consumed, *(aside.snapshot for aside in done.set_aside)):
        segments.move(connection, passed.conversation, passed.last_sequence)
    for conversation, record in done.records.items():
        segments.save_record(connection, conversation, record)


def _route(run: Run, end: Settlement) -> str:
    """Return whose circuit breaker an end of an extraction concerns."""
    kind = kind_of(end.outcome, end.reason)
    engine = run.request.engine
    return segments.breaker(engine) if kind and kind.scope == "content" else engine


def _end_park(connection: sqlite3.Connection, engine: str) -> bool:
    """Follow an extraction that went well: it proves nothing about what others read."""
    save_park(connection, segments.breaker(engine), park.after_success())
    known = park_state(connection, engine)
    if not (isinstance(known, Parked) and known.innocent):
        save_park(connection, engine, park.after_success())
    return False


def _let_wait(
    connection: sqlite3.Connection, run: Run, end: Settlement, given: Circumstances
) -> None:
    """Let a segment wait whose run counts for nothing, as with a conflict: it would come at once."""
    if run.request.dry_run or run.request.trigger == "manual" or end.outcome is Outcome.CANCELLED:
        return
    for each in run.snapshots:
        before = segments.record(connection, each.conversation)
        waits = backoff.after_failure(before.backoff, given.now, given.chance)
        segments.save_record(connection, each.conversation, replace(before, backoff=waits))


def note_death(connection: sqlite3.Connection, run: Run) -> int:
    """Count that a supervisor died in this phase of a run; return how many did."""
    name = _deaths(run.id)
    phase, _, count = (mark(connection, name) or "").partition(" ")
    died = int(count) + 1 if phase == run.phase.value else 1
    set_mark(connection, name, f"{run.phase.value} {died}")
    return died


def forget_deaths(connection: sqlite3.Connection, run_id: str) -> None:
    """Forget the deaths of a run that is settled."""
    clear_mark(connection, _deaths(run_id))


def _deaths(run_id: str) -> str:
    return f"deaths of {run_id}"


def _record(connection: sqlite3.Connection, conversation: str) -> Record:
    row = connection.execute(
        "SELECT consecutive_failures, next_eligible_at, suspect FROM conversations WHERE key = ?",
        (conversation,),
    ).fetchone()
    if row is None:
        return Record()
    until = instant(row["next_eligible_at"]) if row["next_eligible_at"] else None
    return Record(Backoff(row["consecutive_failures"], until), suspect_from(row["suspect"]))


def _save_record(connection: sqlite3.Connection, conversation: str, record: Record) -> None:
    until = record.backoff.next_eligible_at
    connection.execute(
        "UPDATE conversations SET consecutive_failures = ?, next_eligible_at = ?, suspect = ? "
        "WHERE key = ?",
        (
            record.backoff.consecutive_failures,
            stamp(until) if until else None,
            json.dumps(asdict(record.suspect)) if record.suspect else None,
            conversation,
        ),
    )


def _is_smallest(connection: sqlite3.Connection, taken: Snapshot) -> bool:
    """Tell whether nothing shorter can be cut from where this snapshot begins."""
    which = journal.conversation(connection, taken.conversation)
    least = journal.snapshot(connection, which, 1) if which else None
    return least is None or least.last_sequence >= taken.last_sequence


def _set_aside(connection: sqlite3.Connection, run_id: str, aside: SetAside, now: str) -> None:
    taken = aside.snapshot
    connection.execute(
        "INSERT INTO set_aside VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            run_id,
            taken.conversation,
            taken.first_entry,
            taken.last_entry,
            aside.fingerprint,
            now,
        ),
    )
