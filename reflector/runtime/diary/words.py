"""What a model is told about the diary, rendered."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.decision import Message
from reflector.core.diary import Trait
from reflector.core.redact import redact
from reflector.pipelines.contexts import Named
from reflector.pipelines.diary.consolidation import MOST_TEXT, MOST_TRAITS
from reflector.pipelines.diary.contexts import (
    DiaryItemsContext,
    DiaryJudgeContext,
    DiaryRulesContext,
    DiaryWindowContext,
)
from reflector.pipelines.diary.proposals import MOST_FADING, Item
from reflector.runtime.words import open_words

_MESSAGE = 900
"""Characters of a person's message that a consolidation reads; of an answer a third of it."""


def question(sentence: str) -> str:
    """Return the question whether a sentence is worth keeping."""
    return open_words().diary_judge(DiaryJudgeContext(redact(sentence).text))


def consolidation_rules() -> str:
    """Return what comes before every consolidation, always the same."""
    return open_words().diary_rules("consolidate", DiaryRulesContext(MOST_TEXT, MOST_TRAITS))


def window(messages: Sequence[Message], going_on: str, traits: Sequence[Trait]) -> str:
    """Return the last messages, the entry that they go on with, and what is known already."""
    # Old text may predate a rule of the redactor.
    shown = [Named(each.role, redact(each.text).text) for each in messages]
    known = [Named(each.about, redact(each.text).text) for each in traits]
    return open_words().diary_window(
        DiaryWindowContext(shown, redact(going_on).text, known, _MESSAGE)
    )


def sleep_rules() -> str:
    """Return what comes before every batch of a night, always the same."""
    return open_words().diary_rules("sleep", DiaryRulesContext(MOST_TEXT, MOST_FADING))


def items(listed: Sequence[Item], persona: str) -> str:
    """Return the items of one batch; `persona` is "" where none may be proposed."""
    shown = [Named(each.name, redact(each.text).text) for each in listed]
    return open_words().diary_items(DiaryItemsContext(shown, redact(persona).text))
