"""What the templates of the diary may mention: values, one type for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.pipelines.contexts import Named


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
