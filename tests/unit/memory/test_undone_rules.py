"""Rule 13: what a person took back is recognised when it comes again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.commit_message import Update
from reflector.memory.edit import Scope, compare
from reflector.memory.rules import check, check_run
from reflector.memory.tree import Tree
from reflector.memory.undone_rules import added_prose, folded
from tests.support.memory_trees import PERSON, RUN, SAID, Files, doc, message, run

HUMAN, FACTS = "system/human.md", "reference/facts.md"
UNDONE = "- Always use tabs (2026-11-30)"
SCOPE = replace(RUN, unwanted=frozenset({UNDONE}))
SEEDED: Files = {HUMAN: doc("# Human", "short"), FACTS: doc("# Facts", "one")}
COVERED = [Update("x", (SAID,), HUMAN)]


def found(after: Files, before: Files = SEEDED, scope: Scope = SCOPE) -> list[tuple[str, int]]:
    findings = check(Tree.of(before), Tree.of(before | after), scope, COVERED)
    return [(each.path, each.line) for each in findings if each.code == "undone_before"]


def said(after: Files, before: Files = SEEDED) -> dict[str, tuple[str, ...]]:
    return added_prose(compare(Tree.of(before), Tree.of(before | after), PERSON))


@pytest.mark.parametrize(
    "line", [UNDONE, f"  {UNDONE}  ", UNDONE.replace(" ", "\t "), UNDONE + "\u3000"]
)
def test_a_line_that_a_person_took_back_is_found_whatever_its_white_space(line):
    assert found({FACTS: doc("# Facts", "one", line)}) == [(FACTS, 6)]


@pytest.mark.parametrize("line", [UNDONE + "!", UNDONE.lower(), "- Always use tabs", "one"])
def test_another_line_is_not_found(line):
    assert found({FACTS: doc("# Facts", "one", "two", line)}) == []


def test_a_line_that_is_there_already_and_one_that_only_moves_are_not_added():
    there = SEEDED | {HUMAN: doc("# Human", "short", UNDONE)}
    assert found({FACTS: doc("# Facts", "one", "two")}, there) == []
    moved = {HUMAN: doc("# Human", "short"), FACTS: doc("# Facts", "one", UNDONE)}
    assert found(moved, there) == []
    twice = {HUMAN: doc("# Human", "short"), FACTS: doc("# Facts", UNDONE, UNDONE)}
    assert found(twice, there) == [(FACTS, 6)]


def test_a_person_may_write_what_was_taken_back():
    assert found({HUMAN: doc(UNDONE)}, scope=replace(SCOPE, writer="person")) == []


def test_a_run_that_writes_it_waits_for_a_person():
    step = (SEEDED | {FACTS: doc("# Facts", "one", UNDONE)}, message(f"{FACTS}: tabs"))
    verdict = check_run(run(SEEDED, step, scope=SCOPE))
    assert verdict.outcome == "awaiting_review"
    assert [each.severity for each in verdict.findings] == ["warning"]
    assert check_run(run(SEEDED, step)).outcome == "accept"


def test_a_run_that_writes_it_and_takes_it_out_again_does_not_wait():
    steps = (
        (SEEDED | {FACTS: doc("# Facts", "one", UNDONE)}, message(f"{FACTS}: tabs")),
        (SEEDED | {FACTS: doc("# Facts", "one", "two")}, message(f"{FACTS}: no tabs")),
    )
    assert check_run(run(SEEDED, *steps, scope=SCOPE)).outcome == "accept"


def test_what_a_change_says_is_its_new_prose_by_path():
    body = (
        "# Facts",
        "one",
        "",
        "## New",
        "-  two   words ",
        "- `make test`",
        "---",
        "<!-- no -->",
    )
    new = {FACTS: doc(*body, "```", "code", "```", "| - |"), HUMAN: doc("# Human", "short")}
    assert said(new) == {FACTS: ("- two words", "- `make test`")}


def test_what_was_said_before_in_the_same_document_is_not_new():
    assert said({FACTS: doc("# Facts", "  one", "two", "two")}) == {FACTS: ("two",)}


def test_headers_and_files_that_are_no_documents_say_nothing():
    new = {FACTS: doc("# Facts", "one", description="another"), "skills/a/scripts/b.sh": b"two\n"}
    assert said(new) == {}


def test_a_document_without_a_readable_header_is_all_body():
    assert said({"reference/x.md": b"one\ntwo \xff\n"}) == {"reference/x.md": ("one", "two \ufffd")}


def test_a_removed_document_says_nothing_new():
    assert added_prose(compare(Tree.of(SEEDED), Tree.of({HUMAN: SEEDED[HUMAN]}), PERSON)) == {}


def test_a_secret_is_not_remembered():
    (line,) = said({FACTS: doc("- the key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")})[
        FACTS
    ]
    assert "ghp_" not in line
    assert "[REDACTED" in line


@given(st.text())
def test_folding_twice_is_folding_once(text):
    assert folded(folded(text)) == folded(text)
    assert folded(f" \t{text} ") == folded(text)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=8))
def test_every_line_that_is_remembered_is_recognised_when_it_comes_again(lines):
    after = {FACTS: doc("# Facts", *(line.replace("\r", " ").replace("\n", " ") for line in lines))}
    told = said(after)
    known = frozenset(line for each in told.values() for line in each)
    hits = found(after, scope=replace(RUN, unwanted=known))
    assert bool(hits) == bool(known)
