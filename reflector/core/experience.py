"""What one extraction of a segment yields: experiences, at most one fact, and what was dropped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_KEYS = 5
LONGEST_SUBJECT = 80
CONFIDENCE = 0.7
"""What an item is worth that does not say it."""


class Scene(StrEnum):
    """What kind of work a segment holds; it decides what is extracted and how."""

    CODING = "coding"
    WORKING = "working"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Experience:
    """How to do something, reusable. `evidence` are entry ids of the segment."""

    task: str
    solution: str
    boundary_envs: str = ""
    confidence: float = CONFIDENCE
    search_keys: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodicFact:
    """What was established in one segment. `details` and `evidence` are entry ids of it.

    `subject` is "" when there is no single one.
    """

    statement: str
    subject: str = ""
    files: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """One item of an answer that was not taken. `index` counts experiences; None is the fact."""

    index: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What of an answer could be read. `repaired` says that it had to be mended to be read."""

    experiences: tuple[Experience, ...] = ()
    fact: EpisodicFact | None = None
    repaired: bool = False
    dropped: tuple[Dropped, ...] = ()
