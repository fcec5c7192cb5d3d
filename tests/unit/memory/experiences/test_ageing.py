"""Old facts that nobody recalled become lines of ARCHIVE.md; chains go whole or not at all."""

from __future__ import annotations

from dataclasses import replace

from reflector.memory.edit import MAX_FILE
from reflector.memory.experiences.ageing import MOST, aged, archived
from tests.support.stored import linked, stored


def at(number, day, layer="fact", **values):
    return stored(number, layer, created=f"{day}T12:00:00.000Z", **values)


OLD, YOUNG = at(1, "2025-01-05"), at(2, "2026-06-01")
DAY = "2025-11-30"


def ids(*items, recalled=(), before=DAY, archive=b"", most=MOST):
    known = {one.id: one for one in items}
    return [one.id[-1] for one in aged(known, dict(recalled), before, archive, most)]


def test_only_old_facts_go_that_nobody_used_since():
    assert ids(OLD, YOUNG, at(3, "2024-01-01", "experience")) == ["1"]
    assert ids(OLD, recalled={OLD.path: "2025-11-30"}) == []
    assert ids(OLD, recalled={OLD.path: "2025-11-29"}) == ["1"]
    assert ids(at(4, "2025-01-01", updated="2026-01-01T00:00:00.000Z")) == []
    assert ids(at(5, DAY)) == []
    assert ids(OLD, archive=f"- 2025-12-01: {OLD.path}: old\n".encode()) == []
    assert ids(replace(OLD, read_only=True)) == []


def test_a_chain_goes_only_when_its_last_link_is_old():
    assert ids(*linked(OLD, YOUNG).values()) == []
    assert ids(*linked(OLD, at(3, "2025-02-01")).values()) == ["1", "3"]
    assert ids(*linked(OLD, at(3, "2025-02-01")).values(), most=1) == []


def test_no_more_go_at_once_than_somebody_reads():
    many = [at(n, "2025-01-01") for n in range(MOST + 9)]
    assert len(ids(*many)) == MOST


def test_each_leaves_a_dated_line_with_its_path_behind_what_stands_there():
    done = archived([OLD], b"- 2024-01-01: reference/x.md: gone", "2026-11-30")
    assert done == {
        "ARCHIVE.md": (
            "- 2024-01-01: reference/x.md: gone\n"
            f"- 2026-11-30: {OLD.path}: rotate log 1: Use tail -F on file 1.\n"
        ).encode(),
        OLD.path: None,
    }
    assert archived([], b"x", "2026-11-30") == {}
    assert archived([OLD], b"x" * MAX_FILE, "2026-11-30") == {}
