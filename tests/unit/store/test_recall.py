"""The files that are searched: made anew whenever they cannot be used, changed by one at a time."""

from __future__ import annotations

import contextlib
import sqlite3
from contextlib import closing

import pytest

from reflector.core.ambient import SystemClock
from reflector.core.errors import StateError
from reflector.store import recall
from reflector.store.disk import AgentHome
from reflector.store.recall import Index, UnusableError, understood, writing
from tests.support.journals import ended, heard, python, say

TABLES = "CREATE TABLE words (word TEXT) STRICT;"


def fill(*words: str):
    def work(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words])

    return work


@pytest.fixture
def index(tmp_path) -> Index:
    (tmp_path / "locks").mkdir()
    return Index(AgentHome("default", tmp_path), recall.MEMORY, TABLES)


def words(index: Index) -> list[str] | None:
    if (connection := index.open()) is None:
        return None
    with closing(connection):
        return [row["word"] for row in connection.execute("SELECT word FROM words")]


def test_what_was_made_is_opened_again_and_only_by_its_owner(index):
    assert words(index) is None
    index.make(fill("a")).close()
    assert words(index) == ["a"]
    assert index.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoiled", [b"", b"no database", b"SQLite format 3\0" + b"x" * 5000])
def test_what_is_no_index_counts_as_none(index, spoiled):
    index.path.write_bytes(spoiled)
    assert words(index) is None


def test_an_index_of_another_version_counts_as_none(index):
    index.make(fill("a")).close()
    with closing(sqlite3.connect(index.path)) as connection:
        connection.execute("PRAGMA user_version=1")
    assert words(index) is None


def test_a_link_is_not_followed(index, tmp_path):
    index.make(fill("a")).close()
    index.path.rename(tmp_path / "elsewhere.db")
    index.path.symlink_to(tmp_path / "elsewhere.db")
    assert words(index) is None


def test_making_it_anew_leaves_readers_what_they_read(index):
    index.make(fill("old")).close()
    with closing(index.open()) as reader:
        index.make(fill("new")).close()
        assert [row["word"] for row in reader.execute("SELECT word FROM words")] == ["old"]
    assert words(index) == ["new"]


def test_making_it_that_fails_leaves_the_old_one_and_nothing_beside(index, tmp_path):
    index.make(fill("old")).close()

    def fails(connection: sqlite3.Connection) -> None:
        fill("half")(connection)
        raise KeyError

    with pytest.raises(KeyError):
        index.make(fails)
    assert words(index) == ["old"]
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [recall.MEMORY]


def test_what_a_dead_writer_left_is_not_replayed_into_a_new_file(index):
    index.make(fill("old")).close()
    index.path.with_name(f"{recall.MEMORY}-journal").write_bytes(b"\xd9\xd5\x05\xf9 left behind")
    index.make(fill("new")).close()
    assert not index.path.with_name(f"{recall.MEMORY}-journal").exists()
    assert words(index) == ["new"]


def test_a_change_that_fails_is_no_change(index):
    with closing(index.make(fill("a"))) as connection:
        with contextlib.suppress(KeyError), writing(connection):
            fill("b")(connection)
            raise KeyError
        assert words(index) == ["a"]


def test_dropping_takes_everything_beside_it_too(index, tmp_path):
    index.make(fill("a")).close()
    for more in ("-journal", ".new"):
        index.path.with_name(f"{recall.MEMORY}{more}").write_bytes(b"left")
    recall.drop(index.agent, SystemClock(), recall.MEMORY, recall.JOURNAL)
    assert [file for file in tmp_path.iterdir() if file.is_file()] == []


def test_dropping_waits_for_who_is_making_it(index, tmp_path):
    other = python(
        "import sys\n"
        "from pathlib import Path\n"
        "from reflector.core.ambient import SystemClock\n"
        "from reflector.store.disk import AgentHome\n"
        "from reflector.store.recall import Index, drop\n"
        f"index = Index(AgentHome('default', Path(sys.argv[1])), 'recall.db', {TABLES!r})\n"
        "with index.alone(SystemClock()):\n"
        "    print('alone', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    index.make(lambda c: c.execute(\"INSERT INTO words VALUES ('late')\")).close()\n",
        tmp_path,
    )
    assert heard(other) == "alone"
    index.make(fill("early")).close()  # what is dropped must be there to be looked for

    class Waiting(SystemClock):
        def sleep(self, _seconds: float) -> None:
            if other.poll() is None:
                say(other, "go on")
                assert ended(other) == 0

    try:
        recall.drop(index.agent, Waiting(), recall.MEMORY)
        assert other.poll() == 0, "it waited for nobody"
        assert not index.path.exists()
    finally:
        ended(other, kill=True)


def test_damage_asks_for_a_new_file_and_trouble_is_said(index):
    with pytest.raises(UnusableError), understood(index.path):
        sqlite3.connect(":memory:").execute("SELECT * FROM nothing")
    with pytest.raises(StateError, match="could not be used"), understood(index.path):
        sqlite3.connect(index.path / "not" / "there")
