"""Rule 9: a run leaves the system tier within its share, or smaller; a targeted dream stays there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.memory.budget_rules import limit_of, tier_tokens
from reflector.memory.compile import BlockOptions, compile_block
from reflector.memory.rules import check, check_planned
from reflector.memory.tree import Tree
from reflector.memory.view import gist, view_of
from tests.support.memory_trees import PERSON, RUN, Files, doc

LIMIT = limit_of(2000, 8000)
RUN_WITHIN = replace(RUN, system_tokens=LIMIT)
HUMAN = "system/human.md"


def _lines(count: int) -> bytes:
    return doc(*(f"- rule {number:04d} of this house" for number in range(count)))


def _codes(before: Files, after: Files, scope=RUN_WITHIN) -> list[str]:
    found = check(Tree.of(before), Tree.of(after), scope)
    return [one.code for one in found if one.code in ("system_over_budget", "outside_target")]


def test_the_share_is_45_percent_of_the_smaller_limit():
    assert LIMIT == 900
    assert limit_of(2000, 4000) == 450


def test_a_run_may_not_leave_the_system_tier_over_its_share():
    assert _codes({HUMAN: _lines(20)}, {HUMAN: _lines(130)}) == []
    assert _codes({HUMAN: _lines(20)}, {HUMAN: _lines(160)}) == ["system_over_budget"]
    (found,) = (
        one
        for one in check(Tree.of({}), Tree.of({HUMAN: _lines(160)}), RUN_WITHIN)
        if one.code == "system_over_budget"
    )
    assert (found.severity, found.path) == ("error", "system")
    assert f"more than {LIMIT};" in found.message


def test_a_tier_that_was_over_may_only_shrink():
    assert _codes({HUMAN: _lines(300)}, {HUMAN: _lines(299)}) == []
    changed = {HUMAN: _lines(299) + b"- one more rule of the same length here\n"}
    assert _codes({HUMAN: _lines(300)}, changed) == ["system_over_budget"]
    elsewhere = {HUMAN: _lines(300), "reference/a.md": doc("text")}
    assert _codes({HUMAN: _lines(300)}, elsewhere) == []


def test_the_tier_is_judged_again_when_main_has_moved():
    before = {HUMAN: _lines(100), "system/b.md": _lines(20)}
    planned = {HUMAN: _lines(100), "system/b.md": _lines(90)}
    found = check_planned(Tree.of(before), Tree.of(planned), RUN_WITHIN)
    assert [one.code for one in found] == ["system_over_budget"]


def test_a_person_may_write_as_much_as_they_like():
    mine = replace(PERSON, system_tokens=LIMIT, target=HUMAN)
    assert _codes({HUMAN: _lines(20)}, {HUMAN: _lines(500)}, mine) == []
    assert _codes({}, {"reference/a.md": doc("x")}, mine) == []


def test_without_a_limit_nothing_is_asked():
    assert _codes({HUMAN: _lines(20)}, {HUMAN: _lines(500)}, RUN) == []


@pytest.mark.parametrize("path", ["reference/b.md", "ARCHIVE.md", "system/human.md"])
def test_a_dream_with_a_document_changes_no_other(path):
    aimed = replace(RUN, target="reference/a.md")
    before: Files = {"reference/a.md": doc("one")}
    assert _codes(before, {"reference/a.md": doc("two")}, aimed) == []
    assert _codes(before, {"reference/a.md": doc("two"), path: doc("x")}, aimed) == [
        "outside_target"
    ]


def test_the_tier_is_measured_as_the_block_shows_it():
    files: Files = {
        "system/persona.md": doc("I am careful."),
        HUMAN: _lines(30),
        "system/style/python.md": doc("Ruff & mypy <strict>."),
        "system/broken.md": b"no header",
        "system/notes.txt": b"no document",
        "reference/a.md": doc("text"),
    }
    gists = {path: found for path, raw in files.items() if (found := gist(path, raw))}
    block = compile_block(view_of("me", "none", gists), BlockOptions(preface=["Memory."]))
    shown = block.text[block.text.index("<self>") : block.text.index("<external_projection>")]
    assert tier_tokens(Tree.of(files)) == -(-len(shown) // 4)
    assert tier_tokens(Tree.of({})) == 0


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("projects/shop-1/style.md", []),
        ("projects/shop-1/notes.md", ["outside_target"]),
        ("projects/shop-2/style.md", ["outside_target"]),
        ("system/human.md", ["outside_target"]),
    ],
)
def test_a_run_of_decisions_changes_the_three_files_of_its_bank_alone(path: str, codes: list[str]):
    scope = replace(RUN, pipeline="decisions", target="projects/shop-1")
    assert _codes({}, {path: doc("- a bullet")}, scope) == codes
    assert _codes({}, {path: doc("- a bullet")}, replace(scope, target="")) == ["outside_target"]
