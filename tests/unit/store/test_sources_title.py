"""A title that is written over in place does not make a file another file."""

from __future__ import annotations

import pytest

from reflector.store import sources
from reflector.store.sources import START, Source
from tests.support.journals import NOW, journal_in
from tests.support.pi_rows import SLOT, title

HEADER = b'{"type":"session","id":"a"}\n'


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path / "agent") as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(title("First") + HEADER)
    return path


def read(state, file):
    size = file.stat().st_size
    reached = Source(size, size, 0, {})
    with file.open("rb") as stream, state.transaction() as connection:
        mark = sources.fingerprint(stream)
        sources.save(connection, str(file), mark, "pi", "pi/a", reached, NOW)
    return reached


def found(state, file):
    with file.open("rb") as stream:
        return sources.find(state.connection, str(file), stream)


def write(file, at, data):
    with file.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)


def test_a_file_goes_on_when_its_title_was_written_over(state, file):
    reached = read(state, file)
    write(file, 0, title("Zweiter, größer"))
    assert found(state, file) == reached


def test_a_file_starts_again_when_what_follows_the_title_was_written_over(state, file):
    read(state, file)
    write(file, SLOT, HEADER.replace(b"a", b"b"))
    assert found(state, file) is START


def test_a_first_line_that_is_no_title_belongs_to_the_head(state, file):
    file.write_bytes(b'{"type":"mode"}\n' + HEADER)
    read(state, file)
    write(file, 0, b'{"type":"miss"}')
    assert found(state, file) is START
