"""A source goes on where reading stopped while it is the same file, and starts again when not."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflector.store import sources
from reflector.store.sources import START, Source
from reflector.store.state import State
from tests.support.journals import NOW, journal_in

HEAD = 4096


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path / "agent") as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"one\ntwo\n")
    return path


def read(state: State, file: Path, rows: dict[str, int] | None = None) -> Source:
    """Record that the whole file was read."""
    size = file.stat().st_size
    reached = Source(size - 2, size, 1, rows or {})
    with file.open("rb") as stream, state.transaction() as connection:
        mark = sources.fingerprint(stream)
        sources.save(connection, str(file), mark, "codex", "codex/s", reached, NOW)
    return reached


def found(state: State, file: Path) -> Source:
    with file.open("rb") as stream:
        return sources.find(state.connection, str(file), stream)


def test_a_file_never_read_begins_at_the_start(state, file):
    assert found(state, file) is START


def test_the_same_file_goes_on_at_its_offset_also_when_it_has_grown(state, file):
    reached = read(state, file, {"hash": 2})
    assert found(state, file) == reached
    with file.open("ab") as stream:
        stream.write(b"three\n")
    assert found(state, file) == reached


@given(before=st.binary(min_size=2, max_size=2 * HEAD), more=st.binary(max_size=2 * HEAD))
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_file_that_only_grew_is_the_same_whatever_the_length_of_its_head(
    state, file, before, more
):
    file.write_bytes(before)
    reached = read(state, file)
    with file.open("ab") as stream:
        stream.write(more)
    assert found(state, file) == reached


def test_a_shorter_file_is_read_from_the_start(state, file):
    read(state, file)
    os.truncate(file, 4)
    assert found(state, file) is START


def test_a_file_that_lost_only_what_was_not_taken_yet_goes_on(state, file):
    with file.open("rb") as stream, state.transaction() as connection:
        mark = replace(sources.fingerprint(stream, 4), size=file.stat().st_size)
        sources.save(connection, str(file), mark, "codex", "codex/s", Source(4, 4, 0, {}), NOW)
    os.truncate(file, 5)
    assert found(state, file).resume_at == 4


def test_a_replaced_file_is_read_from_the_start_though_its_bytes_are_the_same(state, file):
    read(state, file)
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    other.replace(file)
    assert found(state, file) is START


def test_a_file_with_a_rewritten_head_is_read_from_the_start(state, file):
    read(state, file)
    with file.open("r+b") as stream:
        stream.write(b"ONE")
    assert found(state, file) is START


def test_only_the_head_is_compared(state, file):
    file.write_bytes(b"x" * (HEAD + 10))
    reached = read(state, file)
    with file.open("r+b") as stream:
        stream.seek(HEAD)
        stream.write(b"y")
    assert found(state, file) == reached


def test_taking_a_fingerprint_leaves_the_position_alone(file):
    with file.open("rb") as stream:
        stream.seek(3)
        mark = sources.fingerprint(stream)
        assert stream.tell() == 3
    assert (mark.inode, mark.size, mark.head_length) == (file.stat().st_ino, 8, 8)


def test_a_degraded_source_keeps_its_offset_and_the_next_reading_mends_it(state, file):
    reached = read(state, file, {"hash": 1})
    with state.transaction() as connection:
        sources.degrade(connection, str(file), "unreadable_transcript")
        sources.degrade(connection, "/never/read", "unreadable_transcript")

    def marks() -> list[str]:
        return [row[0] for row in state.connection.execute("SELECT degraded FROM sources")]

    assert marks() == ["unreadable_transcript"]
    assert found(state, file) == reached
    read(state, file)
    assert marks() == [""]


def test_counts_of_equal_rows_are_kept_updated_and_forgotten(state, file):
    read(state, file, {"a": 1, "b": 2})
    read(state, file, {"b": 3})
    assert found(state, file).rows == {"a": 1, "b": 3}
    with state.transaction() as connection:
        sources.forget_rows(connection, str(file))
    assert found(state, file).rows == {}
