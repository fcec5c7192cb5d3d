"""A section that lays itself out: its frame is never cut, and the block keeps its limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.memory.budget import Limits, estimate_tokens
from reflector.memory.compile import Block, compile_block
from reflector.memory.fitted import Fit, Fitted
from reflector.memory.view import MemoryView
from tests.support.blocks import OPTIONS
from tests.unit.memory.test_compile import HUGE

FRAME = "<diary>\nWhat is always said.\n</diary>\n"


def lines(tokens: int, count: int = 400, line: str = "- a line of it\n") -> Fit:
    """Show as many lines as the tokens hold, within the frame."""
    head, foot = FRAME.removesuffix("</diary>\n"), "</diary>\n"
    fits = min(count, tokens // estimate_tokens(line))
    return Fit(f"{head}{line * fits}{foot}", count - fits, fits * estimate_tokens(line))


def compiled(tokens: int, own: Fitted, view: MemoryView = HUGE) -> Block:
    options = replace(OPTIONS, budget_tokens=tokens, max_chars=tokens * 4, fitted=own)
    return compile_block(view, options)


@pytest.mark.parametrize("tokens", range(250, 6001, 500))
def test_the_frame_is_whole_and_the_block_keeps_its_limits(tokens):
    block = compiled(tokens, Fitted("diary", lines))
    assert "What is always said.\n" in block.text
    assert block.tokens <= tokens
    assert len(block.text) <= tokens * 4


@pytest.mark.parametrize("line", ["- 我们在海边迷了路\n", "- 🙂🙂🙂\n", "- ab\n"])
def test_whatever_it_is_written_in_the_limits_are_kept(line):
    for tokens in (400, 3000):
        block = compiled(tokens, Fitted("diary", lambda room: lines(room, line=line)))
        assert block.tokens <= tokens
        assert len(block.text) <= tokens * 4


def test_a_full_memory_leaves_it_its_floor():
    (section,) = [
        each for each in compiled(2000, Fitted("diary", lines)).sections if each.name == "diary"
    ]
    assert section.tokens >= section.floor


def test_what_needs_little_takes_no_more():
    limits = Limits(2000, 8000)
    small = Fitted("diary", lambda room: lines(room, 3))
    assert small.size(limits.total, limits) == 3 * 4 * limits.total // 2000
    assert small.within(small.size(limits.total, limits), limits).omitted == 0


def test_without_a_memory_it_may_take_most():
    empty = MemoryView(identity="default", revision="0123456789ab")
    block = compiled(2000, Fitted("diary", lines), empty)
    assert block.text.count("- a line of it") > 300
