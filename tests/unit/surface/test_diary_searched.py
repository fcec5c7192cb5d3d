"""What a search found says what it means."""

from __future__ import annotations

from reflector.runtime.diary.search import Searched
from reflector.surface.cli.diary import searched


def test_a_search_for_nothing_does_not_claim_to_have_found_nothing():
    (line,) = searched.lines(Searched(texts=0, files=64, objects=24, tables=1, still=()))
    assert "long enough" in line
    (line,) = searched.lines(Searched(texts=1, files=64, objects=24, tables=1, still=()))
    assert line.endswith("for 1 text: found nowhere.")
