"""The prose of a Markdown text: what is left when code is taken out, line by line."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))\Z")
_TICKS = re.compile(r"`+")


def without_code(body: str) -> Iterator[str]:
    """Yield each line of a Markdown text with code spans and fenced blocks left out.

    Lines keep their numbers: a line of a fenced block becomes an empty one.
    """
    paragraph: list[str] = []
    fence = ""
    for line in body.split("\n"):
        opened = _opened(line) if not fence else ""
        if not (fence or opened) and line.strip():
            paragraph.append(line)
            continue
        yield from _without_spans(paragraph)
        paragraph.clear()
        yield ""
        fence = "" if fence and _closes(line, fence) else fence or opened
    yield from _without_spans(paragraph)


def _opened(line: str) -> str:
    match = _FENCE.match(line)
    return (match.group(1) or match.group(3)) if match else ""


def _closes(line: str, fence: str) -> bool:
    text = line.strip(" \t\r")
    return len(text) >= len(fence) and set(text) == {fence[0]}


def _without_spans(paragraph: list[str]) -> list[str]:
    """Blank the code spans of one paragraph; a span may go over a line end."""
    if not paragraph:
        return []
    text = "\n".join(paragraph)
    runs = [match.span() for match in _TICKS.finditer(text)]
    waiting: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
    for start, end in runs:
        waiting[end - start].append((start, end))
    kept: list[str] = []
    at = 0
    for start, end in runs:
        closers = waiting[end - start]
        while closers and closers[0][0] <= start:
            closers.popleft()
        if start < at or not closers:
            continue
        kept += [text[at:start], "\n" * text.count("\n", start, closers[0][1])]
        at = closers[0][1]
    return "".join([*kept, text[at:]]).split("\n")
