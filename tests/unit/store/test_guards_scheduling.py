"""Rows that no run survives: passed by the cursor, and never forgotten."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from reflector.core.run import Outcome, Reason, Run, Settlement
from reflector.store import journal, reservations, scheduling
from reflector.store.aftermath import Circumstances, after_run
from reflector.store.state import State
from tests.support.clocks import WHEN
from tests.support.journals import ME, NOW, REQUEST, about, append, assistant, journal_in, user

REFUSED = Settlement(Outcome.FAILED, Reason.REFUSAL, "it would not")
GIVEN = Circumstances(WHEN, 0.5, 1000, "")


def _consequences(connection: sqlite3.Connection, run: Run) -> None:
    after_run(connection, run, REFUSED, GIVEN)


def refused(state: State, number: int) -> Run:
    """Let a run fail for what it read."""
    name = f"20261130T120000-{number:08x}"
    with state.transaction() as connection:
        taken = journal.snapshot(connection, about(state), 1)
        assert taken is not None
        asked = replace(REQUEST, trigger="step-count")
        reservations.reserve(connection, name, "reflection", asked, (taken,), ME, NOW)
    run = reservations.find(state.connection, name)
    reservations.settle(
        state,
        name,
        ME.token,
        REFUSED,
        NOW,
        also=lambda connection: _consequences(connection, run),
    )
    return run


def test_rows_that_no_run_survives_are_named_and_passed_by_the_cursor(tmp_path):
    with journal_in(tmp_path) as state:
        append(state, [user("u"), assistant("a")])
        last = refused(state, 0)
        for number in range(1, 20):
            if not scheduling.set_asides(state.connection) and not about(state).cursor:
                last = refused(state, number)
        (read,) = last.snapshots
        assert about(state).cursor == read.last_sequence
        (aside,) = scheduling.set_asides(state.connection)
    assert (aside["run"], aside["first_entry"]) == (last.id, read.first_entry)
