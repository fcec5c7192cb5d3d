"""What a person took back is remembered once, the last of it is shown, and it can be forgotten."""

from __future__ import annotations

import pytest

from reflector.store import unwanted
from tests.support.journals import NOW, journal_in


@pytest.fixture
def connection(tmp_path):
    with journal_in(tmp_path) as state, state.transaction() as opened:
        yield opened


def test_lines_are_remembered_with_run_path_and_reason(connection):
    unwanted.record(connection, "r1", {"a.md": ["- one", "- two"]}, "undone", NOW)
    unwanted.record(connection, "r2", {"b.md": ["- one"]}, "rejected", NOW)
    rows = connection.execute("SELECT run, path, line, why FROM unwanted ORDER BY id")
    assert [tuple(row) for row in rows] == [
        ("r1", "a.md", "- one", "undone"),
        ("r1", "a.md", "- two", "undone"),
        ("r2", "b.md", "- one", "rejected"),
    ]
    assert unwanted.lines(connection) == {"- one", "- two"}


def test_recording_again_changes_nothing(connection):
    for _ in range(2):
        unwanted.record(connection, "r1", {"a.md": ["- one", "- one"]}, "undone", NOW)
    assert len(connection.execute("SELECT 1 FROM unwanted").fetchall()) == 1


def test_the_last_lines_come_in_order_and_once(connection):
    for number in range(30):
        unwanted.record(connection, f"r{number}", {"a.md": [f"- {number % 25}"]}, "undone", NOW)
    assert unwanted.last(connection, 3) == ("- 2", "- 3", "- 4")
    assert len(unwanted.last(connection)) == 20


def test_a_run_or_a_line_can_be_forgotten(connection):
    unwanted.record(connection, "r1", {"a.md": ["- one", "- two"]}, "undone", NOW)
    unwanted.record(connection, "r2", {"b.md": ["- one", "- three"]}, "rejected", NOW)
    unwanted.forget_run(connection, "r1")
    assert unwanted.lines(connection) == {"- one", "- three"}
    unwanted.forget_lines(connection, ["- one", "- never there"])
    assert unwanted.lines(connection) == {"- three"}


def test_a_lone_surrogate_is_no_trouble(connection):
    unwanted.record(connection, "r1", {"a\udcff.md": ["- \ud800 one"]}, "undone", NOW)
    assert len(unwanted.lines(connection)) == 1
