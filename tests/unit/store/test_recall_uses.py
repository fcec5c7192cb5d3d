"""What was recalled for agents: counted by session, and by day where no session is known."""

from __future__ import annotations

import sqlite3

import pytest

from reflector.store import recall_uses
from reflector.store.recall_uses import Use

TABLE = (
    "CREATE TABLE recall_uses (path TEXT, session TEXT, day TEXT, PRIMARY KEY (path, session, day))"
)
ONE, TWO = "experiences/one-0badcafe.md", "facts/2026-11/two-0badcafe.md"
MONDAY, TUESDAY = "2026-11-30T12:00:00.000Z", "2026-12-01T08:00:00.000Z"


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.row_factory = sqlite3.Row
    made.execute(TABLE)
    return made


def test_an_item_counts_once_in_a_session_however_often_it_is_recalled(connection):
    for at in (MONDAY, MONDAY, TUESDAY):
        recall_uses.note(connection, [ONE], "s1", at)
    recall_uses.note(connection, [ONE, TWO], "s2", MONDAY)
    assert recall_uses.uses(connection) == {
        ONE: Use(sessions=2, last="2026-12-01"),
        TWO: Use(sessions=1, last="2026-11-30"),
    }


def test_where_no_session_is_known_a_day_counts_as_one(connection):
    for at in (MONDAY, MONDAY, TUESDAY):
        recall_uses.note(connection, [ONE], "", at)
    assert recall_uses.uses(connection)[ONE].sessions == 2


def test_documents_that_are_no_items_are_not_counted(connection):
    recall_uses.note(connection, ["reference/a.md", "system/b.md", "projects/c/d.md"], "s", MONDAY)
    assert recall_uses.uses(connection) == {}


def test_uses_are_forgotten_by_item_and_by_session(connection):
    recall_uses.note(connection, [ONE, TWO], "s1", MONDAY)
    recall_uses.note(connection, [TWO], "s2", MONDAY)
    recall_uses.forget(connection)
    assert recall_uses.uses(connection)[TWO].sessions == 2
    recall_uses.forget(connection, path=ONE)
    recall_uses.forget(connection, session="s1")
    assert recall_uses.uses(connection) == {TWO: Use(1, "2026-11-30")}
