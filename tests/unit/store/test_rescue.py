"""What a damaged database still knows is asked with SQL, and looked for in its bytes after that."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reflector.store import imports, rescue, sources
from tests.support.journals import MAIN, NOW, append, journal_in, talk

KEY = str(MAIN)
STREAMS = {"api:talk": "jsonl/talk", "opencode:ses_1": "opencode/ses_1"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database that names a file, two streams, a file that is gone, and a range passed by."""
    file = tmp_path / "talk.jsonl"
    file.write_text("{}\n", "utf-8")
    named = {str(file): KEY, "/nowhere/gone.jsonl": KEY, **STREAMS}
    with journal_in(tmp_path) as state:
        append(state, talk(2))
        with state.transaction() as connection:
            imports.pass_by(connection, [KEY], NOW)
            for name, key in named.items():
                mark = sources.fingerprint(io.BytesIO(b"{}\n"), is_file=False)
                harness = key.partition("/")[0]
                sources.save(connection, name, mark, harness, key, sources.START, NOW)
    return tmp_path / "state.db"


def knows_all(known: rescue.Known, folder: Path) -> None:
    assert known.files == (str(folder / "talk.jsonl"),)
    assert known.streams == STREAMS
    ((key, (told,)),) = known.passed_by.items()
    assert (key, told.first_sequence, told.last_sequence) == (KEY, 1, 8)
    assert (told.first_entry, told.last_entry) == ("claude-code:m0u:0", "claude-code:m1a:2")


def test_a_database_that_answers_is_asked(database, tmp_path):
    knows_all(rescue.known(database), tmp_path)


def test_one_that_does_not_is_searched_byte_by_byte(database, tmp_path):
    with database.open("r+b") as stream:
        stream.write(b"damaged" * 20)
    knows_all(rescue.known(database), tmp_path)


@pytest.mark.parametrize("damaged", [False, True])
def test_what_is_in_the_log_alone_is_known_too(database, tmp_path, damaged):
    moved = tmp_path / "moved.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE marks SET value = replace(value, '8', '7')")
        connection.commit()
        moved.write_bytes(database.read_bytes())
        log = database.with_name("state.db-wal").read_bytes()
        assert log
        moved.with_name("moved.db-wal").write_bytes(log)
    if damaged:
        moved.write_bytes(b"damaged" * 20)
    (told,) = rescue.known(moved).passed_by[KEY]
    assert told.last_sequence == 7


def test_a_mark_that_was_written_again_is_taken_as_long_as_it_became(database, tmp_path):
    with journal_in(tmp_path) as state:
        append(state, talk(1, "later"))
        with state.transaction() as connection:
            imports.pass_by(connection, [KEY], NOW)
    content = database.read_bytes()
    short = content.replace(b'"last_sequence": 12', b'"last_sequence": 8 ')
    database.write_bytes(b"damaged" + content + short)
    (told,) = rescue.known(database).passed_by[KEY]
    assert told.last_sequence == 12


def test_bytes_that_are_no_mark_are_passed_over(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b'passed_by/x[{"first_sequence": 1, "no": "y"}]passed_by/[{"first')
    assert rescue.known(path) == rescue.Known((), {}, {})


# Passed by again


def test_ranges_are_found_by_their_ids_and_numbered_anew(tmp_path):
    with journal_in(tmp_path / "old") as state:
        append(state, talk(1, "first"))
        append(state, talk(2))
        with state.transaction() as connection:
            imports.pass_by(connection, [KEY], NOW)
        lost = imports.ranges(state.connection, KEY)
    with journal_in(tmp_path / "new") as state:
        append(state, [*talk(1, "before"), *talk(1, "first"), *talk(3)])
        with state.transaction() as connection:
            assert imports.pass_again(connection, KEY, lost)
        (told,) = imports.ranges(state.connection, KEY)
        cursor = state.connection.execute("SELECT cursor FROM conversations").fetchone()[0]
    assert (told.first_sequence, told.last_sequence, cursor) == (5, 16, 16)


def test_to_pass_by_again_twice_is_to_do_it_once(tmp_path):
    with journal_in(tmp_path) as state:
        append(state, talk(1))
        with state.transaction() as connection:
            imports.pass_by(connection, [KEY], NOW)
        before = imports.ranges(state.connection, KEY)
        with state.transaction() as connection:
            assert imports.pass_again(connection, KEY, before)
        assert imports.ranges(state.connection, KEY) == before


def test_a_range_whose_rows_are_gone_is_left_out(tmp_path):
    with journal_in(tmp_path) as state:
        append(state, talk(1))
        lost = [imports.Range(1, 4, "claude-code:m0u:0", "claude-code:gone:0", NOW)]
        with state.transaction() as connection:
            assert not imports.pass_again(connection, KEY, lost)
        assert imports.ranges(state.connection, KEY) == []
