"""What is wrong with what was extracted from a dialogue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reflector.core.experience import EpisodicFact, Experience
from tests.quality.experiences.dialogues import Dialogue

LONGEST = {"coding": (400, 200), "working": (1200, 1200)}
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]")
_MOSTLY = 0.3


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of one dialogue, and how many of its items the segment does not bear out."""

    experiences: Sequence[Experience]
    fact: EpisodicFact | None
    unverified: int = 0


def faults(dialogue: Dialogue, found: Extracted) -> Iterator[str]:
    """Yield what is wrong: counts, fields, lengths, and what should have survived."""
    fewest, most = dialogue.experiences
    if not fewest <= len(found.experiences) <= most:
        yield f"{len(found.experiences)} experiences"
    solved = "\n".join(f"{one.task}\n{one.solution}" for one in found.experiences)
    if found.experiences:
        yield from (f"{word!r} is in no solution" for word in _lacking(dialogue.solves, solved))
    yield from (
        f"the task {one.task!r} points elsewhere" for one in found.experiences if _vague(one)
    )
    if (found.fact is not None) != dialogue.fact:
        yield "no fact" if dialogue.fact else "a fact"
    if found.fact is not None:
        yield from _of_fact(dialogue, found.fact)
    everything = f"{solved}\n{found.fact.statement if found.fact else ''}".casefold()
    yield from (f"{word!r} is said" for word in dialogue.never if word.casefold() in everything)
    if found.unverified:
        yield f"{found.unverified} unverified"


def _of_fact(dialogue: Dialogue, fact: EpisodicFact) -> Iterator[str]:
    statement = fact.statement
    yield from (f"{word!r} is not stated" for word in _lacking(dialogue.states, statement))
    wide = len(_WIDE.findall(statement)) > _MOSTLY * len(statement)
    longest = LONGEST.get(dialogue.scene, (1200, 1200))[wide]
    if len(statement) > longest:
        yield f"{len(statement)} characters"
    if dialogue.ends and not any(end in statement.casefold() for end in dialogue.ends):
        yield f"it does not end {' or '.join(dialogue.ends)}"
    wanted = [subject.casefold() for subject in dialogue.subjects]
    if wanted and fact.subject.casefold() not in wanted:
        yield f"the subject is {fact.subject!r}"


def _lacking(words: Sequence[str], text: str) -> list[str]:
    return [word for word in words if word.casefold() not in text.casefold()]


def _vague(one: Experience) -> bool:
    return (
        re.search(r"\b(?:this|the file|we|our)\b|这个|该文件|我们", one.task, re.IGNORECASE)
        is not None
    )
