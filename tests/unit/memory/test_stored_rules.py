"""The validator's eye on experiences and facts: form, both sides of a replacement, nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.memory.edit import Scope
from reflector.memory.experiences.form import Stored, render
from reflector.memory.rules import check, check_planned, check_run
from reflector.memory.tree import Tree
from tests.support.memory_trees import PERSON, RUN, doc, message, run
from tests.support.stored import linked, stored

EXTRACTION = Scope(pipeline="experiences")
ONE, TWO = stored(1), stored(2)


def files(*items: Stored) -> dict[str, bytes]:
    return {one.path: render(one) for one in items}


def codes(before, after, scope=EXTRACTION):
    found = check(Tree.of(before), Tree.of(after), scope)
    return [(each.code, each.path, each.line, each.severity) for each in found]


def test_what_an_extraction_writes_must_read_back():
    assert codes({}, files(ONE, stored(3, "fact"))) == []
    bad = {"experiences/x.md": doc("one")}
    assert codes({}, bad) == [("stored_broken", "experiences/x.md", 1, "error")]
    assert codes({}, {ONE.path: render(ONE).replace(b"active", b"done")}) == [
        ("stored_broken", ONE.path, 3, "error")
    ]


def test_a_person_may_keep_other_documents_there_and_is_told():
    bad = {"facts/x.md": doc("one")}
    assert codes({}, bad, PERSON) == [("stored_lacking", "facts/x.md", 1, "warning")]
    assert codes({}, bad, RUN) == []
    broken = {ONE.path: render(ONE).replace(b"created:", b"made:")}
    assert codes(files(ONE), broken, RUN) == [("stored_lacking", ONE.path, 1, "warning")]
    no_header = {"facts/x.md": b"one\n"}
    assert [code for code, *_ in codes({}, no_header, PERSON)] == ["header_missing"]


def test_both_sides_of_a_replacement_are_in_one_commit():
    known = linked(ONE, TWO)
    old, new = known[ONE.id], known[TWO.id]
    assert codes(files(ONE), files(old, new)) == []
    assert codes(files(ONE), files(ONE, new)) == [("chain_broken", TWO.path, 1, "error")]
    assert codes(files(ONE), files(old, TWO)) == [("chain_broken", ONE.path, 1, "error")]
    assert codes(files(ONE), files(old)) == [("chain_broken", ONE.path, 1, "error")]
    assert codes(files(ONE), files(old), PERSON) == [("chain_loose", ONE.path, 1, "warning")]


def test_no_two_have_one_id():
    copy = ONE.path.replace("rotate", "turn")
    both = files(ONE) | {copy: render(ONE)}
    assert codes(files(ONE), both) == [("stored_twin", copy, 0, "error")]
    assert codes(files(ONE), both, PERSON) == [("stored_copied", copy, 0, "warning")]
    assert codes({ONE.path: render(ONE)}, {copy: render(ONE)}) == []
    assert codes(both, both | files(TWO)) == []


def test_a_circle_is_refused_however_long():
    known = linked(*(stored(n) for n in range(1, 6)))
    first, last = known[f"{1:08x}"], known[f"{5:08x}"]
    closed = replace(last, status="superseded", superseded_by=first.id)
    whole = known | {closed.id: closed, first.id: replace(first, supersedes=(last.id,))}
    found = codes(files(*known.values()), files(*whole.values()))
    assert {(code, path) for code, path, _, _ in found} == {
        ("chain_broken", first.path),
        ("chain_broken", closed.path),
    }


@pytest.mark.parametrize(
    "path", ["reference/a.md", "system/human.md", "ARCHIVE.md", "skills/a/SKILL.md", "facts/a.csv"]
)
def test_an_extraction_writes_nowhere_else(path):
    found = codes({}, {path: doc("one")})
    assert ("outside_target", path, 0, "error") in found


def test_a_run_with_one_side_of_a_link_fails_and_so_does_its_merge():
    after = files(linked(ONE, TWO)[TWO.id]) | files(ONE)
    told = message(f"{TWO.path}: x", subject="feat(experiences): one more")
    verdict = check_run(run(files(ONE), (after, told), scope=EXTRACTION))
    assert verdict.outcome == "failed"
    planned = check_planned(Tree.of(files(ONE)), Tree.of(after), EXTRACTION)
    assert [each.code for each in planned] == ["chain_broken"]
