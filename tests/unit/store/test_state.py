"""The state database is opened, migrated once, and changed in whole transactions."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reflector.core.ambient import SystemClock
from reflector.core.errors import BusyError, HomeError, StateError
from reflector.store import schema
from reflector.store.locks import Lock
from reflector.store.state import opened
from tests.support.clocks import FakeClock
from tests.support.journals import append, ended, heard, journal_in, python, say, talk, tmpfs


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.fixture
def agent(tmp_path):
    (tmp_path / "locks").mkdir()
    return tmp_path


def test_a_database_is_in_wal_mode_forgets_what_it_deletes_and_checks_references(agent):
    with journal_in(agent) as state:
        assert _pragma(state.connection, "journal_mode") == "wal"
        assert _pragma(state.connection, "secure_delete") == 1
        assert _pragma(state.connection, "foreign_keys") == 1
        assert _pragma(state.connection, "user_version") == schema.VERSION == len(schema.MIGRATIONS)
        with pytest.raises(StateError, match="FOREIGN KEY"), state.transaction() as connection:
            connection.execute("INSERT INTO boundaries VALUES (99, 'r', 1)")


@pytest.mark.parametrize(("durability", "number"), [("FULL", 2), ("NORMAL", 1)])
def test_the_ledger_is_flushed_at_every_commit_and_ingest_less_often(agent, durability, number):
    with opened(agent / "state.db", SystemClock(), durability=durability) as state:
        assert _pragma(state.connection, "synchronous") == number
        assert _pragma(state.connection, "busy_timeout") == 5000
    with opened(agent / "state.db", SystemClock(), busy_seconds=30) as state:
        assert _pragma(state.connection, "busy_timeout") == 30_000


def test_a_database_of_a_newer_program_is_refused_and_nothing_is_changed(agent):
    path = agent / "state.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"PRAGMA user_version={schema.VERSION + 1}")
        made.execute("CREATE TABLE things (a)")
    before = path.read_bytes()
    with pytest.raises(StateError, match="newer Reflector") as caught, journal_in(agent):
        pytest.fail("it was opened")
    assert caught.value.exit_code == 3
    assert "Update" in caught.value.hint
    assert path.read_bytes() == before
    assert sorted(each.name for each in agent.iterdir()) == ["locks", "state.db"]


def _first_page_damaged(path: Path) -> None:
    with journal_in(path.parent) as state:
        append(state, talk(3))
    damaged = bytearray(path.read_bytes())
    damaged[100:3000] = b"\xa5" * 2900
    path.write_bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"{}"),
        lambda path: path.write_bytes(b"this is no database at all" * 400),
        _first_page_damaged,
    ],
)
def test_a_damaged_file_is_an_error_with_a_next_step_and_is_not_written(agent, damage):
    path = agent / "state.db"
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StateError, match="damaged") as caught, journal_in(agent) as state:
        append(state, talk(1))
    assert caught.value.exit_code == 3
    assert "doctor --fix" in caught.value.hint
    assert path.read_bytes() == before


def test_a_folder_in_the_place_of_the_database_is_an_error_in_our_words(agent):
    (agent / "state.db").mkdir()
    with pytest.raises(StateError, match="could not be used"), journal_in(agent):
        pytest.fail("it was opened")


_OPENING = """
import sys
from pathlib import Path
from tests.support.journals import append, journal_in, talk
print("here", flush=True)
sys.stdin.readline()
for _ in range(3):
    with journal_in(Path(sys.argv[1])) as state:
        append(state, talk(1, sys.argv[2]))
print("done", flush=True)
"""


@pytest.mark.race
def test_eight_first_opens_at_once_migrate_once_and_all_go_on(tmp_path):
    processes = [python(_OPENING, tmp_path, f"p{number}") for number in range(8)]
    for process in processes:
        heard(process)
    for process in processes:
        say(process, "go")
    assert [heard(process) for process in processes] == ["done"] * 8
    assert [ended(process) for process in processes] == [0] * 8
    with journal_in(tmp_path) as state:
        assert _pragma(state.connection, "integrity_check") == "ok"
        assert state.connection.execute("SELECT count(*) FROM entries").fetchone()[0] == 32


def test_a_migration_that_fails_leaves_the_database_as_it_was(agent, monkeypatch):
    *first, last = schema.MIGRATIONS
    broken = (*first, f"{last};\nCREATE TABLE runs (a)")
    monkeypatch.setattr("reflector.store.state.MIGRATIONS", broken)
    with pytest.raises(StateError, match="already exists"), journal_in(agent):
        pytest.fail("it was opened")
    monkeypatch.undo()
    with journal_in(agent) as state:
        append(state, talk(1))


def _shape(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT type, name FROM sqlite_schema ORDER BY name").fetchall()


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_database_of_an_older_program_is_brought_up_to_date_with_what_it_holds(agent, version):
    path = agent / "state.db"
    with closing(sqlite3.connect(path)) as made:
        for script in schema.MIGRATIONS[:version]:
            made.executescript(script)
        made.execute("INSERT INTO redactions VALUES ('aws', 3)")
        made.execute(f"PRAGMA user_version={version}")
        made.commit()
    with journal_in(agent) as state:
        assert _pragma(state.connection, "user_version") == schema.VERSION
        assert _pragma(state.connection, "journal_mode") == "wal"
        kept = state.connection.execute("SELECT * FROM redactions").fetchall()
        assert [tuple(row) for row in kept] == [("aws", 3)]
    with journal_in(agent / "new"):
        pass
    assert _shape(path) == _shape(agent / "new" / "state.db")


def test_a_database_that_is_being_repaired_is_busy_after_a_while(agent):
    repairing, clock = Lock(agent / "locks" / "state.lock"), FakeClock()
    assert repairing.take()
    with (
        pytest.raises(BusyError, match="migrated or repaired"),
        opened(agent / "state.db", clock),
    ):
        pytest.fail("it was opened")
    assert 30 <= clock.passed < 31
    assert not (agent / "state.db").exists()
    repairing.release()


def test_an_open_database_cannot_be_moved_aside_and_a_closed_one_can(agent):
    repairing = Lock(agent / "locks" / "state.lock")
    with journal_in(agent):
        assert not repairing.take()
        with journal_in(agent):
            pass
        assert not repairing.take()
    assert repairing.take()
    repairing.release()


def test_a_missing_locks_folder_is_an_unusable_home(tmp_path):
    with pytest.raises(HomeError, match="cannot be used"), opened(tmp_path / "s.db", FakeClock()):
        pytest.fail("it was opened")
    assert list(tmp_path.iterdir()) == []


# Transactions


def test_a_failure_inside_a_transaction_takes_everything_back(agent):
    with journal_in(agent) as state:
        append(state, talk(1))
        with pytest.raises(ZeroDivisionError), state.transaction() as connection:
            assert connection.execute("DELETE FROM entries").rowcount / 0
        assert not state.connection.in_transaction
        assert append(state, talk(2)) == 4


def test_a_transaction_waits_for_the_write_lock_at_its_beginning_not_in_its_middle(agent):
    with journal_in(agent) as one, opened(agent / "state.db", FakeClock(), busy_seconds=0) as two:
        with one.transaction():
            with pytest.raises(BusyError, match="busy"), two.transaction():
                pytest.fail("two writers at once")
            assert two.connection.execute("SELECT count(*) FROM entries").fetchone()[0] == 0
        with two.transaction():
            pass


def test_every_transaction_that_writes_is_immediate(agent):
    said: list[str] = []
    with journal_in(agent) as state:
        state.connection.set_trace_callback(said.append)
        append(state, talk(2))
        state.connection.execute("SELECT * FROM entries").fetchall()
    begun = [each for each in said if each.upper().startswith("BEGIN")]
    assert begun == ["BEGIN IMMEDIATE"]
    folder = Path(schema.__file__).parent
    for module in folder.glob("*.py"):
        words = re.findall(r"\"BEGIN[^\"]*\"", module.read_text("utf-8"))
        # An index is made from one moment of the journal, which it reads and never writes.
        reads = {'"BEGIN"'} if module.name == "recall_journal.py" else set()
        assert set(words) - reads <= {'"BEGIN IMMEDIATE"'}, module


def test_a_full_disk_is_named_as_such_and_takes_nothing_that_was_committed(tmp_path):
    with tmpfs(tmp_path / "small", "512k") as agent, journal_in(agent) as state:
        append(state, talk(2))
        with pytest.raises(StateError, match="disk is full") as caught:
            all(append(state, talk(5, f"t{turn}x")) for turn in range(400))
        assert "Free some space" in caught.value.hint
        assert not state.connection.in_transaction
        assert state.connection.execute("SELECT count(*) FROM entries").fetchone()[0] % 4 == 0
        assert _pragma(state.connection, "integrity_check") == "ok"
