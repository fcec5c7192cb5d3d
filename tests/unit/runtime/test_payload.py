"""A payload holds what a run reads: whole, redacted, and within its bounds."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflector.agent.engine import PayloadConversation, PayloadEntry
from reflector.core.entry import Entry, Kind
from reflector.core.snapshot import Snapshot
from reflector.runtime import payload
from reflector.runtime.payload import Payload

TEXT = st.text(st.characters(), max_size=30)
NAMES = (
    "run_id",
    "pipeline",
    "engine",
    "agent_id",
    "identity",
    "worktree",
    "repository",
    "branch",
    "base",
    "today",
    "focus",
)
MARKER = re.compile(r"\n… \[(\d+) characters left out\] …\n")
TAKEN = Snapshot("codex/s", 1, 9, "a", "b", 9, 1, 3, "advance")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]

entries = st.builds(PayloadEntry, TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | TEXT, TEXT)
conversations = st.builds(
    PayloadConversation,
    id=TEXT,
    title=TEXT,
    cwd=TEXT,
    backlog_remaining=st.integers(0, 10**9),
    entries=st.lists(entries, max_size=3).map(tuple),
)
payloads = st.builds(
    Payload,
    **dict.fromkeys(NAMES, TEXT),
    unwanted=st.lists(TEXT, max_size=2).map(tuple),
    review=st.booleans(),
    user_entries=st.lists(TEXT, max_size=2).map(tuple),
    conversations=st.lists(conversations, max_size=2).map(tuple),
)


def shown(*said: Entry, max_bytes: int = 131_072, **about: str) -> PayloadConversation:
    words: Any = {"title": "", "cwd": "", **about}
    return payload.conversation(TAKEN, said, max_bytes=max_bytes, **words)


def call(arguments: str = "{}", result: str | None = "ok", name: str = "t") -> Entry:
    return Entry(name, "m", Kind.TOOL_CALL, tool="Bash", arguments=arguments, result=result)


@given(payloads)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_was_written_is_read_whatever_the_texts_hold(tmp_path, made):
    made.write(tmp_path / "payload.json")
    assert payload.read(tmp_path / "payload.json") == made


def test_a_snapshot_within_its_bounds_is_shown_whole():
    said = (
        Entry("u", "m1", Kind.USER, "please " * 50, at="2026-11-30T12:00:00.000Z"),
        Entry("a", "m2", Kind.ASSISTANT, "done " * 500),
        call(result="x" * 4000),
        call(result=None, name="open"),
    )
    part = shown(*said, title="A title", cwd="/home/x")
    assert (part.id, part.title, part.cwd) == ("codex/s", "A title", "/home/x")
    assert part.backlog_remaining == 3
    assert [(e.id, e.kind, e.text, e.tool, e.result, e.at) for e in part.entries] == [
        (e.id, e.kind.value, e.text, e.tool, e.result, e.at) for e in said
    ]


def bytes_of(part: PayloadConversation) -> int:
    return sum(len((each.text + (each.result or "")).encode()) for each in part.entries)


@pytest.mark.parametrize("letter", ["x", "\u8bb0", "\U0001f600"])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_group_alone_over_the_budget_is_cut_and_says_so(letter, count):
    said = [Entry(f"a{n}", "m", Kind.ASSISTANT, letter * (9000 * n)) for n in range(1, count + 1)]
    part = shown(*said, max_bytes=8000)
    assert bytes_of(part) <= 8000
    assert bytes_of(part) > 6000 or count > 1
    for before, after in zip(said, part.entries, strict=True):
        left_out = MARKER.search(after.text)
        assert left_out is not None
        kept = after.text.replace(left_out[0], "")
        assert len(kept) + int(left_out[1]) == len(before.text)
        assert after.text.startswith(letter * 100)
        assert after.text.endswith(letter * 100)


def test_only_what_is_long_is_cut():
    said = (
        Entry("u", "m1", Kind.USER, "short and whole"),
        call(result="y" * 4000),
        Entry("a", "m2", Kind.ASSISTANT, "x" * 50_000),
    )
    part = shown(*said, max_bytes=20_000)
    assert part.entries[0].text == said[0].text
    assert part.entries[1].result == said[1].result
    assert MARKER.search(part.entries[2].text)
    assert 19_000 < bytes_of(part) <= 20_000


@given(
    st.lists(st.integers(0, 4000), min_size=1, max_size=12),
    st.sampled_from("x\u8bb0"),
    st.integers(1, 20_000),
)
@settings(max_examples=60, deadline=None)
def test_texts_stay_within_the_budget_or_at_a_useful_head_and_tail_each(lengths, letter, budget):
    said = [Entry(f"e{n}", "m", Kind.USER, letter * size) for n, size in enumerate(lengths)]
    part = shown(*said, max_bytes=budget)
    least = sum(min(len(e.text), 200) * len(letter.encode()) + 60 for e in said)
    assert bytes_of(part) <= max(budget, least)
    for before, after in zip(said, part.entries, strict=True):
        assert after.text == before.text or MARKER.search(after.text)


def test_arguments_show_three_hundred_characters_and_how_many_are_missing():
    short, exact, long = (shown(call("z" * size)).entries[0].arguments for size in (299, 300, 4000))
    assert (short, exact) == ("z" * 299, "z" * 300)
    left_out = MARKER.search(long)
    assert left_out is not None
    assert left_out[1] == "3700"
    assert long.replace(left_out[0], "") == "z" * 300


def test_nothing_leaves_without_being_redacted_again():
    part = shown(
        Entry("u", "m", Kind.USER, f"use {SECRET}"),
        call(f'{{"token": "{SECRET}"}}', f"bad token {SECRET}"),
        Entry("c", "m", Kind.TOOL_CALL, tool=f"tool {SECRET}"),
        title=f"about {SECRET}",
        cwd=f"/src/{SECRET}",
    )
    assert SECRET not in repr(part)
    assert repr(part).count("[REDACTED:") == 6


def test_a_value_under_a_secret_key_is_taken_out_of_the_result_beside_it():
    said = call('{"password": "correct-horse-battery"}', "wrong: correct-horse-battery")
    assert "correct-horse" not in repr(shown(said))


def test_a_secret_is_taken_out_before_a_text_is_cut():
    half = 150
    said = call("a" * (half - 10) + f" {SECRET} " + "b" * 4000)
    shortened = shown(said).entries[0].arguments
    assert not any(SECRET[:length] in shortened for length in range(8, len(SECRET)))


def test_only_what_a_person_said_is_evidence():
    said = [Entry(kind.value, "m", kind, "words") for kind in Kind]
    assert payload.user_entries(said) == ("user",)
