"""The lines that a person wrote for the agent in NOTES.md."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read(text: str) -> tuple[str, ...]:
    """Return the person's lines: what follows `- ` outside fences, without empty ones."""
    found: list[str] = []
    fence = ""
    for line in text.removeprefix("\ufeff").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = line.strip(" \t\r")
            if mark and len(closes) >= len(fence) and set(closes) == {fence[0]}:
                fence = ""
        elif mark:
            fence = mark[1]
        elif line.startswith("- ") and (note := line[2:].strip()):
            found.append(note)
    return tuple(found)
