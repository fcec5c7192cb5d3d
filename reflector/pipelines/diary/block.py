"""The diary as an agent is shown it: a frame that is never cut, and sections within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from reflector.core.diary import Diary, Entry, Term, told_at
from reflector.memory.budget import Claim, allot, estimate_tokens
from reflector.memory.sections import Section, joined
from reflector.pipelines.diary import curiosity, frame, language, mood, sections
from reflector.pipelines.diary.filling import cost, filled, size
from reflector.pipelines.diary.recalling import Recalled
from reflector.pipelines.diary.sections import SHARES, Passage, Voice

DEFAULT_TOKENS: Final = 3000
OPEN, CLOSE = "<diary>\n", "</diary>\n"
_TOLD = 12
_SHARES_SHOWN = {
    "impressions": "relationship",
    "notes": "notes",
    "recent": "recent",
    "recalled": "recalled",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a block is for. Days are local; `now_local` is aware, None leaves the moment out.

    `recalled` and `asked_terms` are what a query brought up, `known_since` the local date of the
    first conversation, `nickname` what the person is called ("" = nobody knows), `note_tool` the
    name of the tool that takes notes ("" = none), `curiosity` whether a question may be asked.
    """

    today: date
    now_local: datetime | None = None
    budget_tokens: int = DEFAULT_TOKENS
    recalled: Sequence[Recalled] = ()
    asked_terms: Sequence[Term] = ()
    known_since: str = ""
    nickname: str = ""
    note_tool: str = ""
    curiosity: bool = False


@dataclass(frozen=True, slots=True)
class DiaryBlock:
    """A compiled block, one element. `tokens` are of all of it, `frame_tokens` of the frame alone.

    What is not frame takes at most `budget` tokens.
    """

    text: str
    tokens: int
    frame_tokens: int
    budget: int
    sections: tuple[Section, ...]


def compile(diary: Diary, wanted: Wanted) -> DiaryBlock:  # noqa: A001 - `block.compile` says it
    """Compile the block. The frame is outside the budget; the rest keeps to it, whatever it is."""
    voice = Voice(_language(diary), wanted.nickname, wanted.today)
    top = _frame(diary, wanted, voice)
    passages = [each for each in _passages(diary, wanted, voice) if each.lines]
    budget = max(0, wanted.budget_tokens)
    rooms = allot([_claim(each) for each in passages], budget)
    texts: list[str] = []
    about: list[Section] = []
    for each, room in zip(passages, rooms, strict=True):
        text, omitted = filled(each, room)
        texts.append(text)
        share = SHARES[each.name]
        about.append(Section(each.name, estimate_tokens(text), share.floor, share.ceiling, omitted))
    text = "".join((top, *texts, CLOSE))
    frame_tokens = cost(top) + cost(CLOSE)
    return DiaryBlock(text, estimate_tokens(text), frame_tokens, budget, tuple(about))


def shown(diary: Diary, today: date) -> frozenset[str]:
    """Return the ids of what is shown by itself; none of it needs to be recalled."""
    newest = (*sections.newest_notes(diary, today), *sections.newest_events(diary, today))
    return frozenset(each.id for each in newest)


def looked_at(diary: Diary, today: date) -> frozenset[str]:
    """Return the ids of all entries on which the block depends, but for what is recalled."""
    return shown(diary, today) | {each.id for each in _newest(diary)}


def comes_to_mind(recalled: Sequence[Recalled], today: date, nickname: str = "") -> str:
    """Return the recalled section by itself, for what is shown with a single prompt; "" for none."""
    entries = [each.entry for each in recalled]
    voice = Voice(language.of_all(each.text for each in entries), nickname, today)
    return filled(sections.recalled(entries, voice), SHARES["recalled"].ceiling)[0]


def line(recalled: Recalled, today: date) -> str:
    """Return one memory that came to mind as the line that shows it."""
    return comes_to_mind((recalled,), today).rstrip("\n").rpartition("\n")[2]


def explain(block: DiaryBlock) -> dict[str, Any]:
    """Return budget, size, what was cut, and each part's share of the content in percent."""
    content = sum(each.tokens for each in block.sections)
    sizes = {each.name: each.tokens for each in block.sections}
    return {
        "budget_tokens": block.budget,
        "tokens": block.tokens,
        "frame_tokens": block.frame_tokens,
        "sections": {
            each.name: {
                "tokens": each.tokens,
                "floor": each.floor,
                "ceiling": each.ceiling,
                "cut": each.omitted,
            }
            for each in block.sections
        },
        "shares": {
            name: round(100 * sizes.get(section, 0) / content) if content else 0
            for name, section in _SHARES_SHOWN.items()
        },
    }


def _language(diary: Diary) -> language.Language:
    """Return the language that the newest of what is written here is in."""
    told = [each.text for each in _newest(diary)] or [each.text for each in diary.traits.values()]
    return language.of_all(told or [diary.persona])


def _newest(diary: Diary) -> list[Entry]:
    return sorted(diary.entries.values(), key=told_at)[-_TOLD:]


def _frame(diary: Diary, wanted: Wanted, voice: Voice) -> str:
    now = frame.moment(
        wanted.now_local, mood.clause(diary.mood, wanted.today, voice.language), voice.language
    )
    asks = curiosity.sentence(voice.person, voice.language) if wanted.curiosity else ""
    said = (*frame.identity(voice.language), now, asks)
    return OPEN + joined(line for line in said if line)


def _passages(diary: Diary, wanted: Wanted, voice: Voice) -> list[Passage]:
    events = sections.newest_events(diary, wanted.today)
    own = sections.newest_notes(diary, wanted.today)
    there = {each.id for each in (*events, *own)}
    relationship = sections.relationship(diary.traits.values(), wanted.known_since, voice)
    called = [each.entry for each in wanted.recalled if each.entry.id not in there]
    return [
        sections.persona(diary.persona, voice),
        sections.notes(own, voice),
        relationship,
        sections.lexicon(wanted.asked_terms, voice, below=relationship),
        sections.human_notes(diary.notes, voice),
        sections.recent(events, voice),
        sections.recalled(called, voice),
        sections.closing(frame.hint(wanted.note_tool, voice.language)),
    ]


def _claim(passage: Passage) -> Claim:
    share = SHARES[passage.name]
    return Claim(size(passage), share.floor, share.ceiling, share.weight)
