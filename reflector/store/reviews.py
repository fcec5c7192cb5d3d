"""Runs that wait for a person: which they are, and how each leaves that state exactly once."""

from __future__ import annotations

import sqlite3

from reflector.core.errors import BusyError
from reflector.core.run import Run, Settlement
from reflector.store import reservations
from reflector.store.locks import Owner
from reflector.store.state import State, storable

REFS = "refs/reflector/review/"


def waiting(connection: sqlite3.Connection) -> list[Run]:
    """Return the runs whose validated tip waits for a person, oldest first."""
    rows = connection.execute(
        "SELECT id FROM runs WHERE state = 'settled' AND outcome = 'awaiting_review' "
        "ORDER BY reserved_at, rowid"
    ).fetchall()
    return [reservations.find(connection, row["id"]) for row in rows]


def decided(connection: sqlite3.Connection, run_id: str) -> bool:
    """Tell whether an active run had waited for a person, who has approved it."""
    row = connection.execute(
        "SELECT kept_ref FROM runs WHERE id = ? AND state = 'active'", (run_id,)
    ).fetchone()
    return row is not None and str(row["kept_ref"] or "").startswith(REFS)


def take_up(state: State, run_id: str, who: Owner) -> None:
    """Take a run that waits up again, at `integrating`: from now on it is approved.

    Its row keeps the name of the ref, by which a recovery knows that a person has decided. Raises
    BusyError when its slot is taken or it waits no longer.
    """
    with state.transaction() as connection:
        try:
            done = connection.execute(
                "UPDATE runs SET state = 'active', phase = 'integrating', outcome = NULL, "
                "kept_ref = ?1 || id, token = ?2, owner_host = ?3, owner_boot = ?4, owner_pid = ?5 "
                "WHERE id = ?6 AND state = 'settled' AND outcome = 'awaiting_review'",
                (REFS, who.token, who.host, who.boot, who.pid, run_id),
            )
        except sqlite3.IntegrityError as error:
            raise _busy("A run is about to start in this memory.") from error
    if done.rowcount != 1:
        raise _busy(f"Somebody else has just decided on run {run_id}.")


def reject(connection: sqlite3.Connection, run_id: str, end: Settlement, now: str) -> None:
    """End a run that waits, inside the caller's transaction; its cursors stay where they are.

    The row names no ref any more: the caller drops it afterwards. Raises BusyError when the run
    waits no longer.
    """
    done = connection.execute(
        "UPDATE runs SET outcome = ?, detail = ?, kept_ref = NULL, ended_at = ? "
        "WHERE id = ? AND state = 'settled' AND outcome = 'awaiting_review'",
        (end.outcome.value, storable(end.detail[:512]), now, run_id),
    )
    if done.rowcount != 1:
        raise _busy(f"Somebody else has just decided on run {run_id}.")


def _busy(sentence: str) -> BusyError:
    return BusyError(sentence, hint="`reflector review list` shows what still waits.")
