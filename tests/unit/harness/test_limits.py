"""The limits of the harnesses, and that the hook's own copy of them is the same."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from reflector.harness.limits import NOTICE_CHARS, TAKES, escaped_chars, least, wide
from reflector.harness.meanings import EVENTS
from reflector.surface import hook, hook_shown


def test_the_hook_s_copy_agrees():
    longest = hook_shown.LONGEST_PRINTED
    assert {name: TAKES[name].chars for name in longest} == longest
    assert least().tokens == 2_400
    assert all(takes.chars <= 9_900 for takes in TAKES.values())


def test_the_event_that_shows_is_the_one_that_begins_a_session():
    for harness, (event, _) in hook.SHOWN.items():
        assert EVENTS[harness][event] == "began"
    assert hook.SHOWN.keys() == EVENTS.keys()


def test_a_line_with_the_largest_block_and_the_largest_notice_keeps_to_the_limit():
    block, notice = "x" * (escaped_chars() - 2), "y" * (NOTICE_CHARS - 2)
    for harness in ("claude-code", "gemini-cli"):
        line = hook_shown.formed(harness, "SessionStart", notice, block.encode(), "json").decode()
        found: Mapping[str, Mapping[str, str]] = json.loads(line)
        assert found["hookSpecificOutput"]["additionalContext"] == block
        assert len(line) <= TAKES[harness].chars


TEXT = st.text(st.characters(codec="utf-8"), max_size=200)


@given(TEXT, TEXT.filter(bool))
def test_what_is_printed_is_read_back_as_it_was(notice, block):
    for harness in ("claude-code", "gemini-cli"):
        line = hook_shown.formed(harness, "SessionStart", notice, block.encode(), "json")
        found = json.loads(line)
        assert line.count(b"\n") == 1
        assert found.get("systemMessage", "") == notice
        assert found["hookSpecificOutput"]["additionalContext"] == block


@given(st.text())
def test_width_is_what_javascript_counts(text):
    assert wide(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
