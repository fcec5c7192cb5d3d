"""A long file that became shorter is another file, though its head is the same."""

from __future__ import annotations

import os

from reflector.store import sources
from reflector.store.sources import START, Source
from tests.support.journals import NOW, journal_in


def test_a_file_that_lost_what_was_read_is_read_from_the_start(tmp_path):
    file = tmp_path / "session.jsonl"
    file.write_bytes(b'{"a": 1}\n' * 2000)
    with journal_in(tmp_path / "agent") as state:
        with file.open("rb") as stream, state.transaction() as connection:
            mark = sources.fingerprint(stream)
            reached = Source(mark.size, mark.size, 0, {})
            sources.save(connection, str(file), mark, "codex", "codex/s", reached, NOW)
        os.truncate(file, 9000)
        with file.open("rb") as stream:
            assert sources.find(state.connection, str(file), stream) is START
