"""What a night proposes for numbered items of a diary, and what of it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any, Final, Literal

from reflector.core.diary import About, Diary, Entry, Term, Trait
from reflector.core.tokens import terms
from reflector.core.visible import visible
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.diary.guard_rails import Proposal, proposals
from reflector.pipelines.diary.lenient import first_object

MOST_OUTPUT_TOKENS: Final = 1500
SECONDS: Final = 120.0
MOST_FADING: Final = 3
BATCH_TOKENS: Final = 3000
MOST_BATCHES: Final = 6

_NAMES = frozenset({"same", "about", "fade", "persona"})
_NEAR = 0.3
_SIMILAR = 2
_MOST_SMALL = 24
"""Traits, and terms, of one night: it costs the same after a year as after a month."""
_LEAST_LEFT = 0.5

Sort = Literal["entry", "trait", "term"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a night looks at: what it is, by which key, and how it is shown."""

    sort: Sort
    key: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Same:
    """Items that tell the same: numbers from 1, the first stays; `text` "" keeps its text."""

    numbers: tuple[int, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """Everything that one batch proposed."""

    same: tuple[Same, ...] = ()
    about: Mapping[int, About] | None = None
    fade: tuple[int, ...] = ()
    persona: tuple[Proposal, ...] = ()


# What is looked at


def items(diary: Diary, since: str) -> list[Item]:
    """Return what a night looks at: entries updated since an instant, each with what is near it.

    The traits and terms that were seen last follow. Without a new entry nothing is looked at.
    """
    fresh = sorted(
        (one for one in diary.entries.values() if one.updated_at > since),
        key=lambda one: (one.updated_at, one.id),
    )
    if not fresh:
        return []
    found: dict[str, Item] = {}
    known = [(one, frozenset(terms(one.text))) for one in diary.entries.values()]
    for entry in fresh:
        for one in (entry, *_near(entry, known)):
            found.setdefault(one.id, Item("entry", one.id, one.kind, one.text))
    traits = nlargest(_MOST_SMALL, diary.traits.values(), key=_last_seen)
    words = nlargest(_MOST_SMALL, diary.lexicon.items(), key=_last_said)
    small = (*map(_trait, traits), *(Item("term", key, "term", one.term) for key, one in words))
    return [*found.values(), *small]


def _last_seen(one: Trait) -> tuple[str, float, str]:
    return one.last_reinforced, one.salience, one.id


def _last_said(one: tuple[str, Term]) -> tuple[str, str]:
    return one[1].last_used, one[0]


def _trait(one: Trait) -> Item:
    shown = f"{one.text}; seen when: {one.evidence}"
    return Item("trait", one.id, f"impression about {one.about}", shown)


def _near(entry: Entry, known: Sequence[tuple[Entry, frozenset[str]]]) -> list[Entry]:
    own = frozenset(terms(entry.text))
    rated: list[tuple[float, str, Entry]] = []
    for one, words in known:
        if one.id == entry.id or not alike(entry, one):
            continue
        if (share := len(own & words) / (len(own | words) or 1)) >= _NEAR:
            rated.append((share, one.id, one))
    rated.sort(key=lambda one: (-one[0], one[1]))
    return [one for _, _, one in rated[:_SIMILAR]]


def batches(listed: Iterable[Item], most: int = BATCH_TOKENS) -> Iterator[list[Item]]:
    """Cut items into batches of at most so many tokens, whatever their number."""
    batch: list[Item] = []
    size = 0
    for one in listed:
        costs = estimate_tokens(one.text) + estimate_tokens(one.name) + 4
        if batch and size + costs > most:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += costs
    if batch:
        yield batch


# What is said


def read(text: str) -> Night | None:
    """Read what a model said; None when there is no JSON object in it."""
    found = first_object(text, _NAMES)
    if found is None:
        return None
    listed = found.get("fade")
    return Night(
        same=tuple(_same(found.get("same"))),
        about=_about(found.get("about")),
        fade=tuple(each for each in (listed if isinstance(listed, list) else []) if _number(each)),
        persona=proposals(found.get("persona")),
    )


def _same(value: object) -> Iterator[Same]:
    for each in value if isinstance(value, list) else []:
        listed = each.get("items") if isinstance(each, Mapping) else None
        numbers = [one for one in (listed if isinstance(listed, list) else []) if _number(one)]
        if len(set(numbers)) > 1:
            text = each.get("text")
            whole = text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""
            shown = " ".join(visible(whole).split())
            yield Same(tuple(dict.fromkeys(numbers)), shown)


def _about(value: object) -> dict[int, About]:
    found: dict[int, About] = {}
    for name, word in (value if isinstance(value, Mapping) else {}).items():
        about: About | None = next((one for one in ("user", "self") if one == word), None)
        if about and isinstance(name, str) and name.isascii() and name.isdigit() and len(name) < 6:
            found[int(name)] = about
    return found


def _number(value: Any) -> bool:
    return type(value) is int and value > 0


# What is done


@dataclass(frozen=True, slots=True)
class Done:
    """The diary after a batch, and how many impressions and terms it let fade."""

    diary: Diary
    faded: int = 0


def dispose(
    diary: Diary,
    listed: Sequence[Item],
    night: Night,
    clean: Callable[[str], str],
    fade: int = MOST_FADING,
) -> Done:
    """Do what may be done of what was proposed for `listed`; `fade` is how many items may go.

    Numbers that were not shown name nothing. Events are never joined with notes, impressions only
    with those about the same; a text that would lose most of what it joins is not taken.
    """
    shown = dict(enumerate(listed, 1))
    entries, traits, lexicon = dict(diary.entries), dict(diary.traits), dict(diary.lexicon)
    for one in night.same:
        found = [shown[number] for number in one.numbers if number in shown]
        if len(found) < 2 or len({each.sort for each in found}) > 1:
            continue
        if found[0].sort == "entry":
            _join_entries(entries, found, clean(one.text))
        elif found[0].sort == "trait":
            _join_traits(traits, found)
    for number, about in (night.about or {}).items():
        trait = traits.get(shown[number].key) if number in shown else None
        if trait is not None and trait.about != about:
            traits[trait.id] = replace(trait, about=about, version=trait.version + 1)
    gone = [shown[number] for number in dict.fromkeys(night.fade) if number in shown]
    going = [each for each in gone if each.sort != "entry"][:fade]
    for each in going:
        (traits if each.sort == "trait" else lexicon).pop(each.key, None)
    return Done(replace(diary, entries=entries, traits=traits, lexicon=lexicon), len(going))


def alike(one: Entry, other: Entry) -> bool:
    """Tell whether two entries may be one: an event is no judgement."""
    return (one.kind == "note") == (other.kind == "note")


def _join_entries(entries: dict[str, Entry], found: Sequence[Item], text: str) -> None:
    there = [entries[each.key] for each in found if each.key in entries]
    if len(there) < 2 or not all(alike(there[0], each) for each in there):
        return
    longest = max(there, key=lambda one: len(one.text))
    total = sum(len(one.text) for one in there)
    keeps = _LEAST_LEFT * len(longest.text) <= len(text) <= total
    kept = there[0]
    entries[kept.id] = replace(
        kept,
        date=min(one.date for one in there),  # with when it was made: what is told began then
        text=text if keeps else longest.text,
        tags=tuple(dict.fromkeys(tag for one in there for tag in one.tags)),
        salience=max(one.salience for one in there),
        resolved=any(one.resolved for one in there),
        created_at=min(one.created_at for one in there),
        updated_at=max(one.updated_at for one in there),
        reinforced_on=max(one.reinforced_on for one in there),
        version=kept.version + 1,
    )
    for each in there[1:]:
        del entries[each.id]


def _join_traits(traits: dict[str, Trait], found: Sequence[Item]) -> None:
    there = [traits[each.key] for each in found if each.key in traits]
    if len(there) < 2 or len({each.about for each in there}) > 1:
        return
    kept = there[0]
    traits[kept.id] = replace(
        kept,
        confidence=max(one.confidence for one in there),
        salience=max(one.salience for one in there),
        last_reinforced=max(one.last_reinforced for one in there),
        version=kept.version + 1,
    )
    for each in there[1:]:
        del traits[each.id]
