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
# lower here, because another estimate and what a harness adds must fit as well.
_TAKES: Mapping[str, Takes] = {
    "claude-code": Takes(tokens=9_900, chars=9_900),
    "codex": Takes(tokens=2_400, chars=9_600),
}


def least() -> Takes:
    """Return what every harness takes: a cached block is printed by all of them."""
    return Takes(
        min(each.tokens for each in _TAKES.values()), min(each.chars for each in _TAKES.values())
    )
