"""What the templates of decisions and of the diary may mention: values, one type for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
class Named:
    """A text under its name."""

    name: str
    text: str


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


@dataclass(frozen=True, slots=True)
class DiaryJudgeContext:
    """The last sentence of a person, that may be worth keeping."""

    sentence: str


@dataclass(frozen=True, slots=True)
class DiaryRulesContext:
    """What the rules for the diary mention: characters of an entry, items of one answer."""

    most_characters: int
    most_traits: int


@dataclass(frozen=True, slots=True)
class DiaryWindowContext:
    """What a diary entry is made from: the last messages by who wrote them, oldest first.

    `going_on` is the entry that the turn goes on with ("" = none), `traits` are impressions by
    whom they are about, `limit` is how many characters of a person's message are shown, of an answer a third.
    """

    messages: Sequence[Named]
    going_on: str
    traits: Sequence[Named]
    limit: int


@dataclass(frozen=True, slots=True)
class DiaryItemsContext:
    """What a night puts in order: items of a diary by what they are, numbered from 1.

    `persona` is shown only with the batch that may propose a change of it.
    """

    items: Sequence[Named]
    persona: str
