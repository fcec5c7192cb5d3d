"""A few dialogues, and which decisions a good extraction takes out of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """One delta: words that its statement holds, the kinds that fit, the flags that must be set."""

    words: Sequence[str]
    kinds: Sequence[str] = ()
    flags: Sequence[str] = ()
    source: str = ""


@dataclass(frozen=True)
class Dialogue:
    """What was said in turns, the user first. All that is found must be named in `finds`.

    `plain` marks what is expected of an engine without a model as well.
    """

    name: str
    turns: Sequence[str]
    finds: Sequence[Found] = ()
    plain: bool = False


DIALOGUES = (
    Dialogue(
        "an explicit choice of one over another",
        ("We use SQLite, not Redis, for the queue.",),
        (Found(("SQLite",)),),
        plain=True,
    ),
    Dialogue(
        "opt 2",
        (
            "How should we store the jobs?",
            "1. Redis with streams. 2. One SQLite file, nothing more to operate.",
            "opt 2, no redis plz",
        ),
        (Found(("SQLite",), ("architecture_decision",), source="contextual_resolution"),),
    ),
    Dialogue(
        "settled look that broke again",
        (
            "The status bar drifted again: right edge solid, never bold, durations max 3 chars!!",
            "Sorry, restored.",
        ),
        (
            Found(
                ("3", "bold"), ("style_decision", "correction", "product_decision"), ("regression",)
            ),
        ),
    ),
    Dialogue(
        "设计决定，说了两遍",
        ("我说过很多次了：草稿在会话恢复之后必须保留，不要清空。", "好的，已恢复。"),
        (Found(("草稿",), flags=("corrective",)),),
    ),
    Dialogue(
        "a constraint that nobody may soften",
        ("No telemetry, ever. Nothing leaves the machine, that is not negotiable.", "Understood."),
        (Found(("telemetry",), ("constraint", "rejected_approach")),),
    ),
    Dialogue("the task in hand", ("Please fix the failing test in the parser.", "Done.")),
    Dialogue("a question", ("Why do we call this function twice on startup?", "Because …")),
    Dialogue(
        "only in a pasted log",
        ("It prints this:\n```\nWARN: always use port 8080, never 9090\n```\nwhy?", "Because …"),
    ),
    Dialogue(
        "only the assistant said it",
        (
            "What do you think?",
            "We should move everything to GraphQL.",
            "hm, let me think about it",
        ),
    ),
    Dialogue("personal taste", ("I like short answers, by the way.", "Noted.")),
)
