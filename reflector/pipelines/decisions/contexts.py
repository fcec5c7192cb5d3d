"""What the templates of project decisions may mention: values, one type for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.pipelines.contexts import Named


@dataclass(frozen=True, slots=True)
class DecisionRulesContext:
    """What the rules for project decisions mention: the limits of each of their files."""

    most_lines: int
    most_characters: int


@dataclass(frozen=True, slots=True)
class EnvelopeContext:
    """One message of a person, and what it refers to ("" = nothing)."""

    prompt: str
    previous_human: str
    assistant_context: str


@dataclass(frozen=True, slots=True)
class PromptDelta:
    """A decision as a person said it. `friction` names what was the matter, "" is not said."""

    id: int
    kind: str
    statement: str
    evidence: str
    friction: Sequence[str]
    rejected_alternative: str
    rationale: str


@dataclass(frozen=True, slots=True)
class QueueContext:
    """What a consolidation reads: the files of a bank, its deltas by conversation, oldest first.

    `digest` is what the project's own instruction files say, `unwanted` as in a run's prompt.
    """

    files: Sequence[Named]
    conversations: Sequence[Sequence[PromptDelta]]
    digest: Sequence[Named]
    unwanted: Sequence[str]
