"""How people say lasting things, and how they say what only looks like it, in four languages.

Patterns are data: each is searched in one sentence of at most 400 characters in which code and
quotations are masked by NUL. The group `say` is the part worth keeping, `new` and `old` are the
two sides of a contrast. A message is read once and no pattern meets more than one sentence, so the
time is linear in the message whatever a pattern does with 400 characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["preference", "correction", "fact", "decision"]
Language = Literal["en", "zh", "ja", "ko"]


@dataclass(frozen=True, slots=True)
class Cue:
    """One way to say something lasting. `standing` outweighs what looks like a one-off task."""

    kind: Kind
    patterns: tuple[re.Pattern[str], ...]
    standing: bool = False


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language. Every pattern but `cues` takes a sentence away, or a part of it.

    `filler` is what stands before the sentence proper, `opener` a sentence that only says "no"
    and belongs to the next one, `tail` one that only says "remember that" and belongs to the one
    before. `negative` tells a prohibition. `noise` are words that say nothing about a subject, `aside`
    patterns that name both sides of a contrast without being a cue.
    """

    cues: tuple[Cue, ...]
    filler: re.Pattern[str]
    opener: re.Pattern[str]
    tail: re.Pattern[str]
    question: re.Pattern[str]
    hedge: re.Pattern[str]
    dropped: re.Pattern[str]
    reported: re.Pattern[str]
    one_off: re.Pattern[str]
    task: re.Pattern[str]
    negative: re.Pattern[str]
    noise: frozenset[str] = frozenset()
    aside: tuple[re.Pattern[str], ...] = ()
    contrast: tuple[re.Pattern[str], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Collect the patterns that name both sides of a contrast, those of cues first."""
        cues = (pattern for one in self.cues for pattern in one.patterns)
        both = (one for one in (*cues, *self.aside) if {"new", "old"} <= one.groupindex.keys())
        object.__setattr__(self, "contrast", tuple(both))


def searched(*parts: str) -> re.Pattern[str]:
    """Compile alternatives, whatever the case."""
    return re.compile("|".join(parts), re.IGNORECASE)


def cue(kind: Kind, *parts: str, standing: bool = False) -> Cue:
    """Return a cue; each part is a pattern of its own, so that all may name the same groups."""
    return Cue(kind, tuple(searched(part) for part in parts), standing)


HARNESS = re.compile(
    r"\s*(?:\[Request interrupted|Operation stopped by hook|Caveat: The messages below|"
    r"This session is being continued from|# AGENTS\.md instructions for|"
    r"Base directory for this skill|\[[a-z ]+ for fixture\]|"
    r"<(?:command-\w+|local-command-\w+|environment_context|user_instructions|task-notification|"
    r"system-reminder|skill|hook_context|bash-\w+)\b)"
)
EDITOR_CONTEXT = re.compile(r"\s*# Context from my IDE setup:")
EDITOR_REQUEST = "## My request for Codex:"
PLAN = re.compile(r"\s*(?:Implement|Execute|Follow) (?:the following|this) plan\b", re.IGNORECASE)
LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|Traceback \(most recent|"
    r'File "[^"]{1,200}", line \d|at [\w.$<>/]{1,200} ?\(|npm (?:WARN|ERR!)|(?:[\w.]{1,80})?'
    r"(?:Error|Exception|Warning): |(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|FAILED|PASSED|E  )\b[ :]"
    r"|\$ |\+{3} |-{3} |@@ |diff --git|(?:warning|error)(?:\[\w+\])?: )"
)
LIST_ITEM = re.compile(r"^\s{0,8}(?:[-*+•・]|\d{1,3}[.)、])\s+")
HEADING = re.compile(r"\s{0,3}#{1,6}\s")
QUOTED = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|«[^»\n]*»|(?<![\w])'[^'\n]* [^'\n]*'(?!\w)"
)
