"""What changes every turn and is written down once a day: reinforcement, mentions, mood, the lexicon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from reflector.core.days import since
from reflector.core.diary import Diary, Mood, Term, term_key
from reflector.pipelines.diary.mood import returned

TERM: Final = "term:"
"""What stands before a term where ids of all kinds are noted."""
DAYS_A_COUNT: Final = 30
MOST_DAYS: Final = 180


@dataclass(frozen=True, slots=True)
class Mentioned:
    """How often something was recalled or said, and on which local day last."""

    count: int
    day: str


def fold(diary: Diary, mentions: Mapping[str, Mentioned], mood: Mood | None, today: date) -> Diary:
    """Return a diary with what was noted of its items; `mentions` go by id, or `term:` and the term.

    What was mentioned counts as reinforced on its last day. A term rises by its mentions, and falls
    out when it was not used for 30 days for each time it ever was, 180 at most.
    """
    entries, traits = dict(diary.entries), dict(diary.traits)
    for name, said in mentions.items():
        if (entry := entries.get(name)) is not None and said.day > entry.reinforced_on:
            entries[name] = replace(entry, reinforced_on=said.day, version=entry.version + 1)
        if (trait := traits.get(name)) is not None and said.day > trait.last_reinforced:
            traits[name] = replace(trait, last_reinforced=said.day, version=trait.version + 1)
    risen = {key: _risen(term, mentions) for key, term in diary.lexicon.items()}
    lexicon = {key: term for key, term in risen.items() if not fallen(term, today)}
    felt = returned(mood, today) if mood is not None else diary.mood
    return replace(diary, entries=entries, traits=traits, lexicon=lexicon, mood=felt)


def _risen(term: Term, mentions: Mapping[str, Mentioned]) -> Term:
    said = mentions.get(TERM + term_key(term.term))
    if said is None or not said.count:
        return term
    last = max(term.last_used, said.day)
    return replace(term, count=term.count + said.count, last_used=last, version=term.version + 1)


def fallen(term: Term, today: date) -> bool:
    """Tell whether nobody has used a term for so long that it is shared no more."""
    unused = since(term.last_used, today)
    return unused is not None and unused > min(MOST_DAYS, DAYS_A_COUNT * max(1, term.count))
