"""Two processes open a new database at once, and one of them keeps it open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reflector.core.errors import BusyError
from reflector.store.locks import Lock
from reflector.store.schema import MIGRATIONS, VERSION
from reflector.store.state import opened
from tests.support.clocks import FakeClock


class WhileWaiting(FakeClock):
    """Another process does its work whenever this one sleeps."""

    def __init__(self, work) -> None:
        super().__init__()
        self._work = work

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._work()


def migrate(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        for step in MIGRATIONS[version:]:
            database.executescript(step)
        database.execute(f"PRAGMA user_version={VERSION}")


@pytest.fixture
def kept_open(tmp_path: Path):
    """Return a new identity's folder whose state lock another process holds, shared."""
    (tmp_path / "locks").mkdir()
    other = Lock(tmp_path / "locks" / "state.lock")
    assert other.take(shared=True)
    yield tmp_path
    other.release()


def test_who_finds_the_database_migrated_meanwhile_does_not_wait_for_it_to_be_closed(kept_open):
    path = kept_open / "state.db"
    clock = WhileWaiting(lambda: migrate(path))
    began = clock.monotonic()
    with opened(path, clock) as state:
        (version,) = state.connection.execute("PRAGMA user_version").fetchone()
    assert version == VERSION
    assert clock.monotonic() - began < 1


def test_a_database_that_stays_old_and_open_is_busy_with_a_next_step(kept_open):
    clock = WhileWaiting(lambda: None)
    with pytest.raises(BusyError) as caught, opened(kept_open / "state.db", clock):
        pytest.fail("it was opened")
    assert "End the other" in caught.value.hint
