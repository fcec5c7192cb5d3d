"""The sections of a diary's block: which lines each could show, its heading and its share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final

from reflector.core.days import between, since
from reflector.core.diary import Diary, Entry, Term, Trait, told_at
from reflector.core.redact import redact
from reflector.memory.entries import plain
from reflector.pipelines.diary import decay, persona_text, time_words
from reflector.pipelines.diary.language import Language, of

NOTES: Final = 3
RECENT: Final = 5
IMPRESSIONS: Final = 2
RULES: Final = 3


@dataclass(frozen=True, slots=True)
class Share:
    """A section's floor, ceiling and weight, and the most for one line. All but weight in tokens."""

    floor: int
    ceiling: int
    weight: int
    line: int = 0


SHARES: Final[dict[str, Share]] = {
    "persona": Share(150, 250, 100),
    "notes": Share(0, 550, 60, line=180),
    "relationship": Share(80, 200, 70),
    "lexicon": Share(0, 100, 20),
    "human_notes": Share(0, 200, 50),
    "recent": Share(300, 900, 80),
    "recalled": Share(0, 300, 40, line=150),
    "closing": Share(40, 40, 100),
}
"""In the order in which they are shown. Notes weigh less than what happened: they are written at
will, and would otherwise push it out."""

_NOBODY: Final[dict[Language, str]] = {"en": "this person", "zh": "这个人"}
_HEADINGS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "persona": "## Who you are, in your own words",
        "notes": "## What you left for yourself",
        "relationship": "## You and {name}",
        "human_notes": "## What {name} wrote for you",
        "recent": "## Lately",
        "recalled": "## It comes to mind",
    },
    "zh": {
        "persona": "## 你是谁（你自己的话）",
        "notes": "## 你留给自己的话",
        "relationship": "## 你和{name}",
        "human_notes": "## {name}写给你的",
        "recent": "## 最近",
        "recalled": "## 你想起来",
    },
}
_KNOWN: Final[dict[Language, tuple[str, str, str]]] = {
    "en": (
        "You met {name} today.",
        "You have known {name} since yesterday.",
        "You have known {name} for {days} days; no need to begin with that.",
    ),
    "zh": (
        "你今天刚认识{name}。",
        "你昨天刚认识{name}。",
        "你认识{name}有{days}天了，不必一开口就提。",
    ),
}
_RULES_LEAD: Final[dict[Language, str]] = {
    "en": "What the ones before you learned to do:",
    "zh": "之前的你学会了这样做：",
}
_SHARED: Final[dict[Language, str]] = {
    "en": "Between the two of you there is {terms}.",
    "zh": "你们俩之间才懂的话：{terms}。",
}
# In front of what is told: behind it, it would be about the last sentence alone. Said the second
# time in a row, the same words would be a mark and no longer a thought.
_OPEN: Final[dict[Language, tuple[str, str]]] = {
    "en": (", and it still sits between us", ", and that sits between us as well"),
    "zh": ("，到现在还没过去", "，这件也还没过去"),
}
_CLOSED: Final[dict[Language, tuple[str, str]]] = {
    "en": (", but settled since, and not mine to bring up", ", and that is settled as well"),
    "zh": ("，已经过去了，我不先提", "，这件也过去了"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line; a `lead` only heads others."""

    text: str
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What a section could show. With `fair` its lines share the room; else the first come first."""

    name: str
    heading: str
    lines: tuple[Line, ...]
    fair: bool = True


@dataclass(frozen=True, slots=True)
class Voice:
    """In which language, about whom, and on which local day the block speaks."""

    language: Language
    name: str
    today: date

    def heading(self, name: str) -> str:
        """Return the heading of a section."""
        return _HEADINGS[self.language][name].format(name=self.person)

    @property
    def person(self) -> str:
        """Return what the person is called, on one line that forges nothing."""
        return _clean(self.name).lstrip("#- ")[:60] or _NOBODY[self.language]


def newest_notes(diary: Diary, today: date) -> list[Entry]:
    """Return the notes that are shown by themselves, newest first."""
    notes = (each for each in diary.entries.values() if each.kind == "note")
    return _newest(notes, today, NOTES)


def newest_events(diary: Diary, today: date) -> list[Entry]:
    """Return what happened lately, newest first."""
    events = (each for each in diary.entries.values() if each.kind != "note")
    return _newest(events, today, RECENT)


def persona(text: str, voice: Voice) -> Passage:
    """Return the persona's own lines."""
    said = tuple(Line(_clean(line)) for line in persona_text.lines(text))
    return Passage("persona", voice.heading("persona"), said, fair=False)


def notes(entries: Iterable[Entry], voice: Voice) -> Passage:
    """Return the notes, undated; events are refused."""
    lines = tuple(Line(f"- {_old(each.text)}") for each in entries if each.kind == "note")
    return Passage("notes", voice.heading("notes"), lines[:NOTES])


def relationship(traits: Iterable[Trait], known_since: str, voice: Voice) -> Passage:
    """Return since when they know each other, impressions, and rules that predecessors left."""
    ranked = sorted(traits, key=lambda each: (-decay.weight(each, voice.today), each.id))
    lines = [Line(known)] if (known := _known(known_since, voice)) else []
    about_user = [each for each in ranked if each.about == "user"][:IMPRESSIONS]
    lines += [Line(f"- {_old(each.text)}") for each in about_user]
    if rules := [each for each in ranked if each.about == "self"][:RULES]:
        lines.append(Line(_RULES_LEAD[voice.language], lead=True))
        lines += [Line(f"- {_old(each.text)}") for each in rules]
    return Passage("relationship", voice.heading("relationship"), tuple(lines))


def lexicon(terms: Sequence[Term], voice: Voice, *, below: Passage) -> Passage:
    """Return the shared words that occur; they stand below the relationship."""
    marks = ("「", "」", "、") if voice.language == "zh" else ("“", "”", ", ")
    said = marks[2].join(f"{marks[0]}{_clean(each.term)}{marks[1]}" for each in terms)
    lines = (Line(_SHARED[voice.language].format(terms=said)),) if said else ()
    return Passage("lexicon", "" if below.lines else below.heading, lines)


def human_notes(said: Iterable[str], voice: Voice) -> Passage:
    """Return what the person wrote, word for word."""
    lines = tuple(Line(f"- {_clean(each)}") for each in said if each.strip())
    return Passage("human_notes", voice.heading("human_notes"), lines, fair=False)


def recent(entries: Iterable[Entry], voice: Voice) -> Passage:
    """Return what happened lately, each with its day, the last day first; notes are refused."""
    lines: list[Line] = []
    before = ""
    since_then = 0
    state: bool | None = None
    # What was written down later than it happened would else stand above today.
    for each in sorted(entries, key=_by_day, reverse=True):
        if each.kind == "note":
            continue
        when = time_words.relative(since(each.date, voice.today) or 0, of(each.text))
        said = _again(when, since_then) if when == before else when
        if each.kind == "failure":
            said += _over(each, again=each.resolved is state)
            state = each.resolved
        lines.append(_told(each, said))
        since_then = since_then + 1 if when == before else 0
        before = when
    return Passage("recent", voice.heading("recent"), tuple(lines[:RECENT]))


def recalled(entries: Iterable[Entry], voice: Voice) -> Passage:
    """Return what comes to mind: never a date, and vague as memory is."""
    lines = []
    for each in entries:
        language = of(each.text)
        days = since(each.date, voice.today) or 0
        # Of what was this morning nobody says that it was a few days ago.
        when = time_words.vague(days, language) if days > 1 else time_words.relative(days, language)
        note = each.kind == "note"
        lines.append(Line(f"- {_old(each.text)}") if note else _told(each, when))
    return Passage("recalled", voice.heading("recalled"), tuple(lines))


def closing(hint: str) -> Passage:
    """Return the closing line."""
    return Passage("closing", "", (Line(_clean(hint)),) if hint else ())


def _newest(entries: Iterable[Entry], today: date, most: int) -> list[Entry]:
    told = sorted(entries, key=told_at, reverse=True)
    return list(islice((each for each in told if decay.vivid(each, today)), most))


def _by_day(entry: Entry) -> tuple[str, str, str]:
    return entry.date, *told_at(entry)


def _known(since_day: str, voice: Voice) -> str:
    try:
        days = max(0, between(date.fromisoformat(since_day), voice.today))
    except ValueError:
        return ""
    form = _KNOWN[voice.language][min(days, 2)]
    return form.format(name=voice.person, days=days)


def _again(when: str, times: int) -> str:
    """Say that something was then too: a day that is named again and again makes a list of dates."""
    if when.isascii():
        return "then, too" if times else f"{when}, too"
    return "那时还有" if times else f"{when}还有"


def _told(entry: Entry, when: str) -> Line:
    """Tell of an event."""
    colon = "：" if of(entry.text) == "zh" else ": "
    return Line(f"- {when[:1].upper()}{when[1:]}{colon}{_old(entry.text)}")


def _over(failure: Entry, *, again: bool) -> str:
    """Say of a failure whether it is over; whoever comes to it by themselves is not told."""
    return (_CLOSED if failure.resolved else _OPEN)[of(failure.text)][again]


def _old(text: str) -> str:
    return _clean(time_words.strip(text))


def _clean(text: str) -> str:
    """Take out secrets that older rules let pass, and whatever could be taken for markup."""
    return plain(redact(text).text)
