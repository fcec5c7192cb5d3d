"""Reads our own fixtures of what is rare on disk: torn, glued, forked, injected, compacted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.capture import capture
from reflector.core.entry import Kind
from reflector.harness.reading import Appended, Boundary, Hidden
from tests.support.harness_rows import read, read_growing

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES = {
    str(path.relative_to(FIXTURES)): path
    for harness in ("claude-code", "codex", "pi")
    for path in sorted((FIXTURES / harness).rglob("*.jsonl"))
}


def fixture(harness, name):
    """Read the fixture with the shortest name that holds this."""
    path = min((FIXTURES / harness).glob(f"*{name}*.jsonl"), key=lambda found: len(found.name))
    return read(path.read_bytes(), path.stem)


def said(seen, kind=Kind.USER):
    return [entry.text for entry in seen.entries if entry.kind is kind]


def results(seen):
    return [entry.result for entry in seen.entries if entry.tool]


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=12)
@given(data=st.data())
def test_a_session_gives_the_same_in_whatever_pieces_it_is_read(name, data):
    whole, stem = FILES[name].read_bytes(), FILES[name].stem
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=5, unique=True))
    rows = data.draw(st.sampled_from([1, 2, 3, 1000]))
    growing, once = read_growing(whole, cuts, stem, rows), read(whole, stem)
    assert growing.lasting == once.lasting
    assert (growing.bad_lines, growing.skipped) == (once.bad_lines, once.skipped)


@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("claude-code", "injected-comes-back"),
        ("codex", "13-00-00"),
        ("pi", "injected-torn-glued"),
    ],
)
def test_memory_that_comes_back_is_not_kept(harness, name):
    seen = fixture(harness, name)
    kept = [capture(entry)[0] for entry in seen.entries]
    whole = "\n".join(entry.text + (entry.result or "") for entry in kept)
    assert "reflector:" not in whole
    assert "Prefers pnpm" not in whole
    assert "Which package manager" in kept[0].text
    assert [(entry.result or "").split() for entry in kept if entry.tool] == [["head", "tail"]]
    assert [entry.kind for entry in kept[:3]] == [Kind.USER, Kind.TOOL_CALL, Kind.ASSISTANT]


@pytest.mark.parametrize(
    ("harness", "name", "bad", "texts"),
    [
        ("claude-code", "torn-and-glued", 1, ["eins", "zwei ü", "line\u2028separator"]),
        ("pi", "injected-torn-glued", 1, ["danke\u2028schön"]),
    ],
)
def test_only_a_torn_line_is_lost_and_an_unfinished_one_is_left_for_later(
    harness, name, bad, texts
):
    seen = fixture(harness, name)
    assert seen.bad_lines == bad
    assert said(seen)[-len(texts) :] == texts


def test_inline_subagents_are_kept_apart_and_end_when_the_user_goes_on():
    seen = fixture("claude-code", "inline-sidechain")
    agents = [record for record in seen.of(Appended) if record.key.agent]
    assert [record.entry.text for record in agents if record.entry.kind is Kind.USER] == [
        "Count the files",
        "Count the folders",
    ]
    assert {record.key.agent for record in agents} == {"sidechain"}
    assert [record.entry.result for record in agents if record.entry.tool] == ["a.py\nb.py", None]


def test_copies_in_progress_rows_and_the_subagents_file_are_one_conversation():
    main, own = fixture("claude-code", "progress-copies"), fixture("claude-code", "agent-")
    copies = [record for record in main.lasting if record.key.agent]
    assert copies == own.lasting
    assert len(main.lasting) == len(copies) + 3


def test_a_subagent_in_a_folder_of_its_own_lies_under_its_session():
    (path,) = (FIXTURES / "claude-code" / "background-agent").rglob("agent-*.jsonl")
    seen = read(path.read_bytes(), path.stem)
    agent = path.stem.removeprefix("agent-")
    main = fixture("claude-code", "background-agent")
    assert {record.key.agent for record in seen.lasting} == {agent}
    assert {record.parent for record in seen.lasting} == {record.key for record in main.lasting}


def test_two_compactions_are_two_and_what_was_copied_is_known_again():
    seen = fixture("claude-code", "compactions")
    assert len({found.record for found in seen.of(Boundary)}) == 2
    asked = ["Build the parser", "Now the printer", "And the tests", "Ship it"]
    assert list(dict.fromkeys(said(seen))) == asked
    assert len(set(seen.ids)) == 8


def test_a_fork_adds_only_its_own_rows():
    for harness, first, fork, own in (
        ("codex", "2026-02-01T10", "2026-02-01T11", ["another way", "This way."]),
        ("pi", "tree", "_fork", ["Another flag: --quiet", "--quiet it is."]),
    ):
        known = set(fixture(harness, first).ids)
        entries = fixture(harness, fork).entries
        assert [entry.text for entry in entries if entry.id not in known] == own


def test_a_session_that_a_later_pi_wrote_anew_adds_nothing():
    old, anew = fixture("pi", "version-1"), fixture("pi", "migrated")
    assert old.lasting == anew.lasting


def test_every_branch_of_a_tree_is_kept():
    assert said(fixture("pi", "_tree")) == [
        "Add a flag",
        "No: --verbose, always the long name",
        "Name it --verbose",
        "Thanks",
    ]


def test_a_session_of_the_first_codex_is_read():
    seen = fixture("codex", "2025-05-12")
    assert said(seen) == ["How many files?", "yes", "yes"]
    assert len(set(seen.ids)) == len(seen.ids)
    assert results(seen) == ["a.py\n", "exit code: 1\n"]


def test_outputs_of_codex_come_in_three_shapes():
    seen = fixture("codex", "2026-02-01T10")
    assert results(seen) == ["exit code: 3\nno\n", "Success", "seen\n[image]", None]
    assert said(seen, Kind.ERROR) == ["stream disconnected"]
    assert len(seen.of(Hidden)) == len(seen.of(Boundary)) == 1


def test_a_thread_of_a_codex_subagent_lies_under_its_thread():
    seen = fixture("codex", "2026-02-01T12")
    parent = fixture("codex", "2026-02-01T10").lasting[0].key
    assert {record.parent for record in seen.lasting} == {parent}
