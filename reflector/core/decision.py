"""A project decision as a person said it: its kinds, its friction, and the row it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

FileName = Literal["architecture", "product", "style"]
FILES: tuple[FileName, ...] = ("architecture", "product", "style")
"""The files of a bank, in the order in which they are shown."""


class Kind(StrEnum):
    """What a person decided."""

    ARCHITECTURE = "architecture_decision"
    PRODUCT = "product_decision"
    STYLE = "style_decision"
    CONSTRAINT = "constraint"
    REJECTED = "rejected_approach"
    CORRECTION = "correction"


class Source(StrEnum):
    """Whether the words alone decide, or with what the assistant had said before them."""

    EXPLICIT = "explicit_user"
    RESOLVED = "contextual_resolution"


@dataclass(frozen=True, slots=True)
class Friction:
    """Why a decision matters: it was set right, it broke, or the code does not show it."""

    corrective: bool = False
    regression: bool = False
    subtle: bool = False

    def as_json(self) -> dict[str, bool]:
        """Return the public form."""
        return {
            "corrective": self.corrective,
            "regression": self.regression,
            "subtle": self.subtle,
        }


@dataclass(frozen=True, slots=True)
class Delta:
    """One admitted candidate, without secrets.

    `evidence` is the piece of the prompt from `start` to `end`, in code points of the prompt as it
    was given. What the person did not say is "".
    """

    kind: Kind
    statement: str
    source: Source
    evidence: str
    start: int
    end: int
    friction: Friction = Friction()
    rejected_alternative: str = ""
    rationale: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the public form; what the person did not say is left out."""
        told = {
            "kind": self.kind.value,
            "statement": self.statement,
            "rejected_alternative": self.rejected_alternative,
            "rationale": self.rationale,
            "source": self.source.value,
            "evidence": self.evidence,
        }
        return {name: value for name, value in told.items() if value} | {
            "evidence_start": self.start,
            "evidence_end": self.end,
            "friction": self.friction.as_json(),
        }


Origin = Literal["model", "rules", "person"]
"""Who wrote a delta down: a model, the engine without one, or a person by a command."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A delta in the ledger. Ids grow in the order of speaking; `consumed_by` is a run, or ""."""

    id: int
    bank: str
    conversation: str
    entry: str
    at: str
    origin: Origin
    delta: Delta
    consumed_by: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A bullet that a run or a person wrote, and the deltas it rests on.

    One that a later one took the place of is `superseded`; `instead` is that later one, if known.
    """

    id: int
    bank: str
    file: FileName
    text: str
    deltas: tuple[int, ...]
    run: str
    at: str
    superseded: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """What one message said: text blocks joined by line ends. `role` is user or assistant."""

    role: str
    text: str
