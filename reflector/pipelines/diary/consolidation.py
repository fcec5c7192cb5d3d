"""What one consolidation gives: an answer read with tolerance, judged, and put into a diary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Literal

from reflector.core.comparing import letters
from reflector.core.diary import KINDS, About, Diary, Entry, Kind, Term, Trait, term_key
from reflector.core.visible import visible
from reflector.pipelines.diary import continuing
from reflector.pipelines.diary.lenient import first_object

MOST_OUTPUT_TOKENS: Final = 900
SECONDS: Final = 60.0
TRIES: Final = 2
LEAST_SALIENCE: Final = 0.15
MOST_ENTRIES: Final = 6
MOST_TRAITS: Final = 3
MOST_TERMS: Final = 3
MOST_TEXT: Final = 900
MOST_TRAIT: Final = 240
SHOWN_TRAITS: Final = 8

_NAMES = frozenset({"entry", "traits", "lexicon", "mood"})
_FAR = 1e6
_MOST_TAGS = 5
_MOST_TAG = 32
_MOST_TERM = 40

Came = Literal["new", "continued", "traits", "nothing"]
"""What became of a turn: an entry of its own, one that went on, impressions alone, nothing."""

Clean = Callable[[str], str]
"""Takes out of a text what may not reach the disk."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry as the model gave it; everything but the text has a default."""

    text: str
    kind: Kind = "chat"
    tags: tuple[str, ...] = ()
    salience: float = 0.5
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class Impression:
    """A trait as the model gave it. `again` is the number of a known one that showed again."""

    text: str
    evidence: str
    about: About
    confidence: float = 0.5
    salience: float = 0.5
    again: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that one call gave. `mood` is -1 (it went badly) to 1 (it went well)."""

    entry: Draft | None = None
    impressions: tuple[Impression, ...] = ()
    terms: tuple[str, ...] = ()
    mood: float = 0.0


@dataclass(frozen=True, slots=True)
class Host:
    """What does not come from a model. `known` are the traits that it was shown, in that order.

    `day` is the local date of the turn, `now` RFC 3339 UTC; `ids` are new ones, one for the entry
    and one for each trait. `may_add` is False once a session has its entries.
    """

    conversation: str
    turn: int
    day: str
    now: str
    ids: Sequence[str]
    known: Sequence[str] = ()
    may_add: bool = True


# Reading


def read(text: str) -> Answer | None:
    """Read what a model said; None when there is no JSON object in it. Bad items cost no others."""
    found = first_object(text, _NAMES)
    if found is None:
        return None
    listed = found.get("traits")
    traits = map(_impression, listed if isinstance(listed, list) else [])
    terms = found.get("lexicon")
    return Answer(
        entry=_draft(found.get("entry")),
        impressions=tuple(one for one in traits if one)[:MOST_TRAITS],
        terms=tuple(filter(None, map(_term, terms if isinstance(terms, list) else [])))[
            :MOST_TERMS
        ],
        mood=_share(found.get("mood"), 0.0, least=-1.0),
    )


def _draft(value: object) -> Draft | None:
    if not isinstance(value, Mapping) or not (text := _text(value, "text", MOST_TEXT)):
        return None
    known = (each for each in KINDS if each == value.get("kind") and each != "note")
    kind: Kind = next(known, "chat")
    listed = value.get("tags")
    tags = (_line(each, _MOST_TAG) for each in (listed if isinstance(listed, list) else []))
    return Draft(
        text=text,
        kind=kind,
        tags=tuple(dict.fromkeys(filter(None, tags)))[:_MOST_TAGS] or (kind,),
        salience=_share(value.get("salience"), 0.5),
        resolved=value.get("resolved") is True and kind == "failure",
    )


def _impression(value: object) -> Impression | None:
    if not isinstance(value, Mapping):
        return None
    again = value.get("again")
    number = again if type(again) is int and again > 0 else 0
    text, evidence = (_text(value, name, MOST_TRAIT) for name in ("text", "evidence"))
    said = value.get("about", "user")
    about: About | None = next((each for each in ("user", "self") if each == said), None)
    if not number and not (text and evidence and about):
        return None
    confidence, salience = (_share(value.get(name), 0.5) for name in ("confidence", "salience"))
    return Impression(text, evidence, about or "user", confidence, salience, number)


def _term(value: object) -> str:
    found = _line(value, _MOST_TERM + 1)
    return "" if len(found) > _MOST_TERM or found.startswith("#") else found


def _text(value: Mapping[str, Any], name: str, most: int) -> str:
    found = _line(value.get(name), 100_000)
    return found if len(found) <= most else _cut(found, most)


def _cut(text: str, most: int) -> str:
    """Cut behind the last whole sentence, else behind a character."""
    kept = text[:most]
    end = max(kept.rfind(sign) for sign in ".!?。！？")
    return kept[: end + 1] if end > most // 2 else kept[: most - 1].rstrip() + "…"


def _line(value: object, most: int) -> str:
    if not isinstance(value, str):
        return ""
    # Half a character, as JSON can name it, is none that a file could hold.
    whole = value.encode("utf-8", "replace").decode()
    return " ".join(visible(whole).split())[:most]


def _share(value: object, default: float, least: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    if not -_FAR < value < _FAR:  # also what is no number at all
        return default
    return round(max(least, min(1.0, float(value))), 3)


# Judging


def cleaned(answer: Answer, clean: Clean, heard: Sequence[str]) -> Answer:
    """Return an answer as it may be kept: without what `clean` takes out, without what is worth nothing.

    A term has to have been said: `heard` are the person's own messages.
    """
    entry = answer.entry
    if entry is not None:
        text = clean(entry.text)
        worth = entry.salience >= LEAST_SALIENCE and any(map(str.isalnum, text))
        entry = replace(entry, text=text, tags=tuple(map(clean, entry.tags))) if worth else None
    impressions = (
        replace(one, text=clean(one.text), evidence=clean(one.evidence))
        for one in answer.impressions
    )
    said = term_key("\n".join(heard))
    terms = (one for one in answer.terms if term_key(one) in said and clean(one) == one)
    return replace(answer, entry=entry, impressions=tuple(impressions), terms=tuple(terms))


# Writing


def written(diary: Diary, answer: Answer, host: Host) -> tuple[Diary, Came]:
    """Put an answer into a diary; tell what became of the turn."""
    came: Came = "nothing"
    after = diary
    if answer.entry is not None:
        after, came = _entered(diary, answer.entry, host)
    after = _with_traits(after, answer.impressions, host)
    after = _with_terms(after, answer.terms, host.day)
    if came == "nothing" and after != diary:
        came = "traits"
    return after, came


def _entered(diary: Diary, draft: Draft, host: Host) -> tuple[Diary, Came]:
    going_on = continuing.continued(diary.entries.values(), host.conversation, host.turn)
    if going_on is not None:
        more = continuing.only_new(going_on.text, draft.text)
        if not more:
            return diary, "nothing"
        after = continuing.appended(
            going_on, more, draft.salience, host.now, resolved=draft.resolved
        )
        return replace(diary, entries={**diary.entries, after.id: after}), "continued"
    if not host.may_add:
        return diary, "nothing"
    made = Entry(
        id=host.ids[0],
        date=host.day,
        text=draft.text,
        kind=draft.kind,
        tags=draft.tags,
        salience=draft.salience,
        resolved=draft.resolved,
        conversation=host.conversation,
        turn=host.turn,
        created_at=host.now,
        updated_at=host.now,
        reinforced_on=host.day,
    )
    return replace(diary, entries={**diary.entries, made.id: made}), "new"


def _with_traits(diary: Diary, impressions: Sequence[Impression], host: Host) -> Diary:
    traits = dict(diary.traits)
    for one, fresh in zip(impressions, host.ids[1:], strict=False):
        known = _known(traits, one, host.known)
        if known is not None:
            traits[known.id] = replace(
                known,
                confidence=max(known.confidence, one.confidence),
                salience=max(known.salience, one.salience),
                last_reinforced=max(known.last_reinforced, host.day),
                version=known.version + 1,
            )
        elif one.text:
            rated = (one.confidence, one.salience)
            traits[fresh] = Trait(fresh, one.text, one.evidence, one.about, *rated, host.day)
    return replace(diary, traits=traits) if traits != diary.traits else diary


def _known(traits: Mapping[str, Trait], one: Impression, shown: Sequence[str]) -> Trait | None:
    if one.again:
        # A number that was not shown names nothing, and neither does one that went meanwhile.
        return traits.get(shown[one.again - 1]) if one.again <= len(shown) else None
    plain = letters(one.text)
    return next((each for each in traits.values() if letters(each.text) == plain), None)


def _with_terms(diary: Diary, terms: Sequence[str], day: str) -> Diary:
    """Let shared phrases begin. Of known ones each turn that says them is counted as it is judged."""
    coined = {term_key(said): said for said in terms if term_key(said) not in diary.lexicon}
    fresh = {key: Term(said, 1, day) for key, said in coined.items()}
    return replace(diary, lexicon={**diary.lexicon, **fresh}) if fresh else diary


def shown_traits(diary: Diary, today: date, weigh: Callable[[Trait, date], float]) -> list[Trait]:
    """Return the traits that a model is shown, so that it says a number instead of them again."""
    found = sorted(diary.traits.values(), key=lambda one: (-weigh(one, today), one.id))
    return found[:SHOWN_TRAITS]
