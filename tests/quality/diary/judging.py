"""What is wrong with what a diary kept of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflector.core.diary import Diary, Entry
from reflector.pipelines.diary import language, time_words
from tests.quality.diary.dialogues import Dialogue

LONGEST = 900
_MANUAL = re.compile(
    r"\bthe user (?:values|prefers|expressed|appreciates|is someone who)\b|用户(?:偏好|重视|表示|希望)",
    re.IGNORECASE,
)


def faults(dialogue: Dialogue, kept: Diary) -> Iterator[str]:
    """Yield what is wrong: counts, kinds, words that did not survive, words that should not have."""
    entries = [one for one in kept.entries.values() if one.kind != "note"]
    fewest, most = dialogue.entries
    if not fewest <= len(entries) <= most:
        yield f"{len(entries)} entries"
    everything = "\n".join(one.text for one in entries)
    if entries:
        for words in dialogue.keeps:
            if not any(word.casefold() in everything.casefold() for word in words):
                yield f"{' or '.join(words)} is not kept"
    for one in entries:
        yield from _of_entry(dialogue, one)
    traits = [*kept.traits.values()]
    if len(traits) > dialogue.traits:
        yield f"{len(traits)} traits"
    told = "\n".join((everything, *(f"{one.text}\n{one.evidence}" for one in traits)))
    yield from (
        f"{word!r} is said" for word in dialogue.never if word.casefold() in told.casefold()
    )


def _of_entry(dialogue: Dialogue, one: Entry) -> Iterator[str]:
    if one.kind not in dialogue.kinds:
        yield f"an entry is a {one.kind}"
    if not one.tags or not one.text:
        yield "a field is empty"
    if len(one.text) > LONGEST:
        yield f"{len(one.text)} characters"
    if time_words.strip(one.text) != one.text:
        yield "a word for time is left"
    if found := _MANUAL.search(one.text):
        yield f"it reads like a manual: {found[0]!r}"
    if language.of(one.text) != language.of("".join(dialogue.turns)):
        yield "it is in another language"
