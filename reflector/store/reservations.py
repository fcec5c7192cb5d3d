"""Reservations and the run ledger, changed only by compare-and-set."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reflector.core.errors import BusyError, NotFoundError, StateError
from reflector.core.run import Outcome, Phase, Request, Run, Settlement, advances, consumes
from reflector.core.snapshot import Snapshot
from reflector.store.journal import consume
from reflector.store.locks import Owner
from reflector.store.run_rows import Row, reserved_row, run_of, snapshot_row, snapshots_of
from reflector.store.state import State, storable

_MUTABLE = frozenset(
    {"branch", "base", "tip", "merge_commit", "started_at", "heartbeat_at", "sandboxed"}
)


def reserve(
    connection: sqlite3.Connection,
    run_id: str,
    slot: str,
    request: Request,
    snapshots: Iterable[Snapshot],
    who: Owner,
    now: str,
) -> None:
    """Make an active run, inside the caller's transaction. Raises BusyError if there is one."""
    try:
        _insert(connection, "runs", reserved_row(run_id, slot, request, who, now))
    except sqlite3.IntegrityError as error:
        raise BusyError(
            f"Another run holds the {slot} slot.", hint="`reflector status` shows it."
        ) from error
    for position, each in enumerate(snapshots):
        _insert(connection, "run_snapshots", snapshot_row(run_id, position, each))


def _insert(connection: sqlite3.Connection, table: str, row: Row) -> None:
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - constants of run_rows
        (*row.values(),),
    )


def advance(
    state: State, run_id: str, token: str, phase: Phase, then: Phase, **values: str | int | None
) -> None:
    """Move an active run from `phase` to `then`, saving `values` with the move.

    Raises BusyError when the run is no longer ours or no longer in that phase: whoever moved it
    owns it now, and this process must stop.
    """
    if not advances(phase, then):
        raise StateError(f"A run cannot move from {phase} to {then}.")
    with state.transaction() as connection:
        _change(connection, run_id, token, phase, {"phase": then.value, **values})


def note(state: State, run_id: str, token: str, phase: Phase, **values: str | int | None) -> None:
    """Save `values` of an active run without moving it."""
    with state.transaction() as connection:
        _change(connection, run_id, token, phase, values)


def _change(
    connection: sqlite3.Connection,
    run_id: str,
    token: str,
    phase: Phase,
    values: dict[str, str | int | None],
) -> None:
    unknown = values.keys() - _MUTABLE - {"phase"}
    if unknown:
        raise StateError(f"A run has no changeable {', '.join(sorted(unknown))}.")
    sets = ", ".join(f"{name} = ?" for name in values)
    done = connection.execute(
        f"UPDATE runs SET {sets} WHERE id = ? AND token = ? AND phase = ? AND state = 'active'",  # noqa: S608 - names come from _MUTABLE
        (*values.values(), run_id, token, phase.value),
    )
    if done.rowcount != 1:
        raise BusyError(f"Run {run_id} is no longer in phase {phase} under this owner.")


def settle(
    state: State,
    run_id: str,
    token: str,
    end: Settlement,
    now: str,
    also: Callable[[sqlite3.Connection], None] | None = None,
) -> None:
    """Record how a run ended and move the cursors, in one transaction.

    `also` writes in the same transaction what else the end means.

    A dry run never moves a cursor. Raises BusyError when the run is not ours any more.
    """
    with state.transaction() as connection:
        done = connection.execute(
            "UPDATE runs SET state = 'settled', phase = 'completed', outcome = ?, reason = ?, "
            "detail = ?, findings = ?, usage = ?, tip = coalesce(?, tip), "
            "merge_commit = ?, kept_ref = ?, ended_at = ? "
            "WHERE id = ? AND token = ? AND state = 'active' RETURNING dry_run",
            (
                end.outcome.value,
                end.reason.value if end.reason else None,
                storable(end.detail[:512]),
                json.dumps(end.findings, ensure_ascii=True),
                json.dumps(end.usage),
                end.tip,
                end.merge_commit,
                end.kept_ref,
                now,
                run_id,
                token,
            ),
        ).fetchall()
        if not done:
            raise BusyError(f"Run {run_id} was settled by somebody else.")
        if consumes(end.outcome) and not done[0]["dry_run"]:
            for each in snapshots_of(connection, run_id):
                consume(connection, each)
        if also is not None:
            also(connection)


def reopen(state: State, run_id: str, who: Owner, now: str | None = None) -> None:
    """Take a settled run with a kept tip up again, at `integrating`; `now` as in `adopt`.

    Raises BusyError when its slot is taken or its tip is no longer kept.
    """
    with state.transaction() as connection:
        try:
            done = connection.execute(
                "UPDATE runs SET state = 'active', phase = 'integrating', outcome = NULL, "
                "reason = NULL, token = ?, owner_host = ?, owner_boot = ?, owner_pid = ?, "
                "heartbeat_at = coalesce(?, heartbeat_at) "
                "WHERE id = ? AND state = 'settled' AND outcome = 'parent_dirty' "
                "AND kept_ref IS NOT NULL",
                (who.token, who.host, who.boot, who.pid, now, run_id),
            )
        except sqlite3.IntegrityError as error:
            raise BusyError(f"Run {run_id} cannot be taken up again now.") from error
    if done.rowcount != 1:
        raise BusyError(f"Run {run_id} has no kept tip.")


def adopt(state: State, run_id: str, who: Owner, now: str | None = None) -> None:
    """Make this process the owner of an active run whose owner is dead.

    Only for callers that hold the slot's presence lock: it is the proof of death. `now` is the new
    owner's first sign of life.
    """
    with state.transaction() as connection:
        connection.execute(
            "UPDATE runs SET token = ?, owner_host = ?, owner_boot = ?, owner_pid = ?, "
            "heartbeat_at = coalesce(?, heartbeat_at) WHERE id = ? AND state = 'active'",
            (who.token, who.host, who.boot, who.pid, now, run_id),
        )


@dataclass(frozen=True, slots=True)
class Owned:
    """An active run with an owner: when it began to work, and when its owner last said so."""

    run: str
    who: Owner
    began_at: str
    seen_at: str


def owned(connection: sqlite3.Connection, slot: str) -> Owned | None:
    """Return the slot's active run as its owner left it; None when nobody ever owned one."""
    row = connection.execute(
        "SELECT * FROM runs WHERE slot = ? AND state = 'active' AND token <> ''", (slot,)
    ).fetchone()
    if row is None:
        return None
    who = Owner(row["owner_host"], row["owner_boot"], row["owner_pid"], row["token"])
    began = row["started_at"] or row["reserved_at"]
    return Owned(row["id"], who, began, row["heartbeat_at"] or began)


def unowned(connection: sqlite3.Connection, slot: str) -> str | None:
    """Return the id of the slot's reserved run that no supervisor has confirmed yet."""
    row = connection.execute(
        "SELECT id FROM runs WHERE slot = ? AND state = 'active' AND phase = 'reserved' "
        "AND token = ''",
        (slot,),
    ).fetchone()
    return row["id"] if row else None


def name_kept(state: State, run_id: str, ref: str | None) -> None:
    """Name the ref under which a settled run's tip is kept; None: it is kept no longer."""
    with state.transaction() as connection:
        connection.execute(
            "UPDATE runs SET kept_ref = ? WHERE id = ? AND state = 'settled'", (ref, run_id)
        )


def note_calls_model(connection: sqlite3.Connection, run_id: str, calls: bool) -> None:  # noqa: FBT001 - a value, not a mode
    """Note whether a run costs something, for the limits of the day."""
    connection.execute("UPDATE runs SET calls_model = ? WHERE id = ?", (calls, run_id))


def abandoned(connection: sqlite3.Connection, slot: str) -> list[Run]:
    """Return the slot's active run if it had an owner: to the holder of the lock, a dead one."""
    return _runs(connection, "state = 'active' AND token <> '' AND slot = ?", slot)


def active(connection: sqlite3.Connection, slot: str | None = None) -> list[Run]:
    """Return the active runs, of one slot or of all, by slot."""
    return _runs(connection, "state = 'active' AND slot = coalesce(?, slot) ORDER BY slot", slot)


def pending(connection: sqlite3.Connection) -> list[Run]:
    """Return the runs that wait for their turn, oldest first."""
    return _runs(connection, "state = 'pending' AND ? IS NOT NULL ORDER BY reserved_at, rowid", 1)


def recent(connection: sqlite3.Connection, limit: int) -> list[Run]:
    """Return the newest runs, newest first."""
    return _runs(connection, "1 = 1 ORDER BY reserved_at DESC, rowid DESC LIMIT ?", limit)


def last(connection: sqlite3.Connection, slot: str) -> Run | None:
    """Return the newest run of a slot, None when there was none."""
    found = _runs(connection, "slot = ? ORDER BY reserved_at DESC, rowid DESC LIMIT 1", slot)
    return next(iter(found), None)


def ended_since(connection: sqlite3.Connection, instant: str) -> list[Run]:
    """Return the runs that were settled since an instant, in the order of their ends."""
    return _runs(
        connection, "state = 'settled' AND ended_at >= ? ORDER BY ended_at, rowid", instant
    )


def kept(connection: sqlite3.Connection, slot: str | None = None) -> list[Run]:
    """Return the runs, of one slot or of all, whose validated tip waits, oldest first."""
    return _runs(
        connection,
        "state = 'settled' AND outcome = 'parent_dirty' AND kept_ref IS NOT NULL "
        "AND slot = coalesce(?, slot) ORDER BY reserved_at, rowid",
        slot,
    )


def could_not_begin(connection: sqlite3.Connection, slot: str) -> str:
    """Return what kept the slot's last run from beginning at all, "" if it began."""
    # Not by the id: of two in the same second, chance decides which is the greater.
    row = connection.execute(
        "SELECT outcome, detail, kept_ref FROM runs WHERE slot = ? AND state = 'settled' "
        "AND outcome <> 'cancelled' ORDER BY reserved_at DESC, rowid DESC LIMIT 1",
        (slot,),
    ).fetchone()
    if row is None or row["outcome"] != Outcome.PARENT_DIRTY or row["kept_ref"]:
        return ""
    return str(row["detail"])


def known(connection: sqlite3.Connection, run_id: str) -> Run | None:
    """Return the run with exactly this id, None when there is none."""
    return next(iter(_runs(connection, "id = ?", run_id)), None)


def find(connection: sqlite3.Connection, run_id: str) -> Run:
    """Return the run with this id, or with this unambiguous beginning of an id."""
    name = storable(run_id)
    begins = "substr(id, 1, length(?1)) = ?1 AND ?1 <> '' LIMIT 2"
    found = _runs(connection, "id = ?", name) or _runs(connection, begins, name)
    if len(found) != 1:
        many = "more than one run begins" if found else "no run begins"
        raise NotFoundError(
            f"There is no run {run_id}: {many} so.", hint="`reflector runs` lists them."
        )
    return found[0]


def _runs(connection: sqlite3.Connection, where: str, value: str | int | None) -> list[Run]:
    rows = connection.execute(f"SELECT * FROM runs WHERE {where}", (value,)).fetchall()  # noqa: S608 - constants of this module
    return [run_of(row, snapshots_of(connection, row["id"])) for row in rows]
