"""Reads our own fixtures of harnesses that write records, or whole files, anew."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

from reflector.core.capture import capture
from reflector.core.errors import TranscriptError, UnknownFormatError
from reflector.harness.reading import Boundary, Hidden, open_source
from tests.support.gemini_rows import journal
from tests.support.harness_rows import read, read_growing

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES = {
    str(path.relative_to(FIXTURES)): path
    for harness in ("gemini-cli", "opencode", "openhands", "swe-agent")
    for path in sorted((FIXTURES / harness).iterdir())
}
ROWS = [name for name in FILES if name.endswith(".jsonl")]
DOCUMENTS = [name for name in FILES if not name.endswith(".jsonl")]

TABLE = {
    "gemini-cli/22222222-3333-4444-8555-666666666666.jsonl": (1, 1, 0, 0),
    "gemini-cli/session-2026-01-02T03-04-legacy.json": (1, 2, 2, 0),
    "gemini-cli/session-2026-01-02T03-04-rewritten.jsonl": (5, 4, 1, 1),
    "gemini-cli/session-2026-11-30T10-19-43fb8bdb.jsonl": (1, 2, 4, 0),
    "opencode/child.json": (1, 2, 1, 0),
    "opencode/edges.json": (2, 1, 2, 1),
    "opencode/export.json": (1, 2, 5, 0),
    "openhands/v0.json": (1, 2, 2, 1),
    "openhands/v1.jsonl": (1, 2, 2, 1),
    "swe-agent/commands.traj": (1, 3, 3, 0),
}
"""Entries of a person, of the model and of tools, and boundaries."""


def whole(name):
    return read(FILES[name].read_bytes(), FILES[name].stem, settled=True)


@pytest.mark.parametrize("name", FILES)
def test_a_fixture_has_the_entries_that_the_table_says(name):
    seen = whole(name)
    kinds = Counter(entry.kind.value for entry in journal(seen))
    boundaries = len({record.record for record in seen.of(Boundary)})
    assert (kinds["user"], kinds["assistant"], kinds["tool_call"], boundaries) == TABLE[name]


@pytest.mark.parametrize("name", ROWS)
def test_rows_give_the_same_in_two_parts_wherever_they_meet(name):
    data, stem = FILES[name].read_bytes(), FILES[name].stem
    once = read(data, stem)
    for cut in range(0, len(data), 79):
        parts = read_growing(data, [cut], stem)
        assert journal(parts) == journal(once), cut
        assert parts.bad_lines == once.bad_lines, cut


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_never_refused_for_being_torn(name):
    data = FILES[name].read_bytes().rstrip()
    for cut in range(1, len(data), len(data) // 20):
        with pytest.raises(TranscriptError) as raised:
            open_source(io.BytesIO(data[:cut]), "file")
        assert not isinstance(raised.value, UnknownFormatError), cut


@pytest.mark.parametrize("name", FILES)
def test_no_injected_memory_and_no_lone_surrogate_reaches_the_journal(name):
    for entry in journal(whole(name)):
        kept, _ = capture(entry)
        text = f"{kept.text}{kept.arguments}{kept.result}"
        assert "remember" not in text
        assert text.encode()


def test_what_was_taken_back_is_hidden():
    seen = whole("gemini-cli/session-2026-01-02T03-04-rewritten.jsonl")
    assert len(seen.of(Hidden)) == 3
    assert "answer to be taken back" not in [entry.text for entry in journal(seen)]
    assert len(whole("opencode/edges.json").of(Hidden)) == 1
