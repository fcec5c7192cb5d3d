"""How much text each harness takes from a hook before it shows a stub instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Takes:
    """The most that a hook may print: estimated tokens and characters."""

    tokens: int
    chars: int


# Claude Code counts 10 000 characters, Codex 2 500 tokens of its own estimate: both lie a little
# lower here, because another estimate and what a harness adds must fit as well. Of Gemini CLI no
# limit is known.
TAKES: Mapping[str, Takes] = {
    "claude-code": Takes(tokens=9_900, chars=9_900),
    "codex": Takes(tokens=2_400, chars=9_600),
    "gemini-cli": Takes(tokens=9_900, chars=9_900),
}

NOTICE_CHARS = 400
"""The most that a notice takes of a printed line, with all that JSON escapes."""

_AROUND = 120
"""What JSON puts around a block and a notice."""


def least() -> Takes:
    """Return what every harness takes: a cached block is printed by all of them."""
    return Takes(
        min(each.tokens for each in TAKES.values()), min(each.chars for each in TAKES.values())
    )


def escaped_chars() -> int:
    """Return the most characters of a block once JSON has escaped it: its line must fit too."""
    return least_line() - _AROUND - NOTICE_CHARS


def least_line() -> int:
    """Return how long a line of JSON may be that a hook prints."""
    return min(TAKES[name].chars for name in ("claude-code", "gemini-cli"))


def wide(text: str) -> int:
    """Return how many characters a harness counts: most of them are written in JavaScript."""
    return len(text) + sum(each > "\uffff" for each in text)
