"""The eye of the diary: the very text that a session would be shown now, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflector.memory.shares import shares_of
from reflector.pipelines.diary import block
from reflector.runtime.compiled import Wanted, compile_with, limits, note_command
from reflector.runtime.diary.repository import Repository, require_enabled
from reflector.runtime.diary.shown import NAME, laid
from reflector.runtime.wiring import Context

_TABLES = ("prompt.floors", "prompt.ceilings", "prompt.weights")


@dataclass(frozen=True, slots=True)
class Preview:
    """The text, "" where the block has no room for a diary, and the explanation of its sections.

    Of the latter `budget_tokens` is the most that the diary may take beside its frame,
    `room_tokens` what it was given: no more than it needs.
    """

    text: str
    explained: Mapping[str, Any]


def preview(context: Context, start: Path | None = None, query: str = "") -> Preview:
    """Lay the diary out as the block of a session would hold it that starts in `start`.

    `query` is what a person would say first. What they edited by hand is taken in before.
    Raises DiaryOffError when no diary is kept, DiaryPausedError when it cannot be read.
    """
    require_enabled(context)
    Repository(context).read(quiet=0)  # says what is wrong, where a block would be silent
    found = laid(context, query, note_command(context, start))
    if found is None:
        return Preview("", {})
    wanted = Wanted(start, by_hook=True, query=query)
    _, compiled = compile_with(context, wanted, found.fitted)
    text = _cut(compiled.text)
    made = found.blocks.get(text)
    if made is None:
        return Preview(text, {})
    tokens, _ = limits(context.settings, wanted)
    most = tokens * shares_of(*map(context.settings.texts, _TABLES))[NAME].ceiling // 100
    budget = min(context.settings.number("diary.budget_tokens"), most)
    told = {**block.explain(made), "budget_tokens": budget, "room_tokens": made.budget}
    return Preview(text, told)


def _cut(text: str) -> str:
    """Take the diary out of a block: nothing in a document can open or close an element."""
    begin = text.find(block.OPEN)
    return text[begin : text.index(block.CLOSE, begin) + len(block.CLOSE)] if begin >= 0 else ""
