"""Which parts of a message nobody typed: fenced blocks, block quotations, what an editor put first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reflector.agent.phrases import EDITOR_CONTEXT, EDITOR_REQUEST

_RUN = re.compile("`{3,}|~{3,}")
# A run of tildes is also how people draw out a word, so it opens a block only where a line ends.
_TILDES = re.compile(r"(?<!\S)~{3,}[\w+.-]{0,40}[ \t]*(?:\r?\n|\Z)")
_QUOTE = re.compile(r"^[ \t]{0,3}[>＞][^\n]*(?:\n|\Z)", re.MULTILINE)
_INDENT = 3

Span = tuple[int, int]
"""From where to where, in code points."""


def pasted(text: str) -> list[Span]:
    """Return every part that was not typed, in order, parts that touch as one."""
    quoted = [match.span() for match in _QUOTE.finditer(text)]
    merged: list[Span] = []
    for start, end in sorted([*fenced(text), *quoted, *_by_editor(text)]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _by_editor(text: str) -> list[Span]:
    if not EDITOR_CONTEXT.match(text):
        return []
    at = text.find(EDITOR_REQUEST)
    return [(0, len(text) if at < 0 else at + len(EDITOR_REQUEST))]


def fenced(text: str) -> list[Span]:
    """Return the fenced blocks with their fences; one that is never closed goes to the end."""
    runs = list(_RUN.finditer(text))
    found: list[Span] = []
    nowhere: set[str] = set()
    at = 0
    while at < len(runs):
        opening = runs[at]
        if opening.group()[0] == "~" and not _TILDES.match(text, opening.start()):
            at += 1
            continue
        closing = _closing(text, runs, at, nowhere)
        end = len(text) if closing is None else runs[closing].end()
        found.append((opening.start(), end))
        at = len(runs) if closing is None else closing + 1
    return found


def _closing(
    text: str, runs: Sequence[re.Match[str]], opened: int, nowhere: set[str]
) -> int | None:
    """Return which run closes a block. One that begins on a line of its own ends on such a line.

    `nowhere` are the fences that no later line begins with: a long text is not searched for each.
    """
    mark = runs[opened].group()
    line_end = text.find("\n", runs[opened].end())
    first = None
    for at in range(opened + 1, len(runs)):
        if not runs[at].group().startswith(mark):
            continue
        first = at if first is None else first
        start = runs[at].start()
        if line_end < 0 or start < line_end or mark in nowhere:
            return first
        if _begins_line(text, start):
            return at
    nowhere.add(mark)
    return first


def _begins_line(text: str, at: int) -> bool:
    before = text[max(0, at - _INDENT - 1) : at].rstrip(" \t")
    return (not before and at <= _INDENT) or before.endswith("\n")


def fence_at(spans: Sequence[Span], at: int, text: str) -> str:
    """Return the fence of the block that is open at a place, "" when none is."""
    for start, end in spans:
        if start < at < end and (found := _RUN.match(text, start)):
            return found.group()
    return ""
