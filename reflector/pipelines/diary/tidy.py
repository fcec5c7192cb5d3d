"""Putting old records right: one table of rules, each with its reason, and what they change."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from reflector.core.comparing import folded
from reflector.core.diary import Diary, Entry, Trait
from reflector.pipelines.diary import merging, time_words
from reflector.pipelines.diary.records import entry_path, term_path, trait_path
from reflector.pipelines.diary.tidy_words import ACTS, FIGURE, SENTENCE_END, TITLE

_ROUNDS = 6
_R = TypeVar("_R", Entry, Trait)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a rule puts right; `after` is "" where a record goes."""

    rule: str
    path: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """What is put right, and why."""

    name: str
    reason: str
    apply: Callable[[Diary], Diary]


def tidy(diary: Diary) -> tuple[Diary, list[Change]]:
    """Return the diary put right, and what that changes. Doing it twice changes nothing."""
    after = diary
    changes: list[Change] = []
    for _ in range(_ROUNDS):  # what one rule shortens may be the twin of another
        found = len(changes)
        for rule in RULES:
            before, after = after, rule.apply(after)
            changes += _changes(rule, before, after)
        if len(changes) == found:
            break
    return merging.buried(diary, after) if changes else diary, changes


def _changes(rule: Rule, before: Diary, after: Diary) -> Iterator[Change]:
    there, here = _shown(before), _shown(after)
    for path, text in there.items():
        if text != here.get(path, ""):
            yield Change(rule.name, path, text, here.get(path, ""), rule.reason)


def _shown(diary: Diary) -> dict[str, str]:
    """Return what each record says, by its path."""
    entries = {entry_path(one): one.text for one in diary.entries.values()}
    traits = {
        trait_path(one): f"{one.about}: {one.text} ({one.evidence})"
        for one in diary.traits.values()
    }
    return entries | traits | {term_path(one.term): one.term for one in diary.lexicon.values()}


def _without_time_words(diary: Diary) -> Diary:
    return replace(
        diary,
        entries={name: _undated_entry(one) for name, one in diary.entries.items()},
        traits={name: _undated_trait(one) for name, one in diary.traits.items()},
    )


def _undated_entry(entry: Entry) -> Entry:
    text = time_words.strip(entry.text)
    return entry if text == entry.text else replace(entry, text=text, version=entry.version + 1)


def _undated_trait(trait: Trait) -> Trait:
    said = time_words.strip(trait.text), time_words.strip(trait.evidence)
    if said == (trait.text, trait.evidence):
        return trait
    return replace(trait, text=said[0], evidence=said[1], version=trait.version + 1)


def _refiled(diary: Diary) -> Diary:
    traits = {
        name: replace(one, about="self", version=one.version + 1)
        if one.about == "user" and ACTS.search(one.text)
        else one
        for name, one in diary.traits.items()
    }
    return replace(diary, traits=traits)


def _without_twins(diary: Diary) -> Diary:
    return replace(
        diary,
        entries=_single(diary.entries, _same_event, _one_entry),
        traits=_single(diary.traits, lambda trait: trait.about, _one_trait),
    )


def _same_event(entry: Entry) -> str:
    # The same words on another day are another event; a judgement is one on whatever day.
    return entry.kind if entry.kind == "note" else f"{entry.kind} {entry.date}"


def _single(
    records: Mapping[str, _R], group: Callable[[_R], str], one: Callable[[_R, _R], _R]
) -> dict[str, _R]:
    """Return the records, each of those that say no more than another made one with that."""
    groups: defaultdict[str, list[_R]] = defaultdict(list)
    for record in records.values():
        groups[group(record)].append(record)
    found = dict(records)
    for each in groups.values():
        each.sort(key=lambda record: (folded(record.text), record.id))
        last = each[0]
        for record in each[1:]:  # whoever begins like another stands right behind it
            if not _says(record.text, last.text):
                last = record
                continue
            del found[last.id], found[record.id]
            last = one(last, record)
            found[last.id] = last
    return found


def _says(long: str, short: str) -> bool:
    """Tell whether a text says what another says: the same, or that and further sentences."""
    long, short = folded(long), folded(short)
    return long == short or (long.startswith(short) and short.endswith(SENTENCE_END))


def _one_entry(short: Entry, long: Entry) -> Entry:
    """Return the elder of two, with all that both say; `long` says what `short` says."""
    elder, other = sorted((short, long), key=lambda entry: (entry.created_at, entry.id))
    return replace(
        elder,
        text=long.text,
        tags=tuple(dict.fromkeys((*elder.tags, *other.tags))),
        salience=max(elder.salience, other.salience),
        resolved=elder.resolved or other.resolved,
        updated_at=max(elder.updated_at, other.updated_at),
        reinforced_on=max(elder.reinforced_on, other.reinforced_on),
        version=max(elder.version, other.version) + 1,
    )


def _one_trait(short: Trait, long: Trait) -> Trait:
    elder, other = sorted((short, long), key=lambda trait: trait.id)
    moments = (elder.evidence, other.evidence)
    known = folded(other.evidence) in folded(elder.evidence)
    return replace(
        elder,
        text=long.text,
        evidence=elder.evidence if known else " ".join(moments),
        confidence=max(elder.confidence, other.confidence),
        salience=max(elder.salience, other.salience),
        last_reinforced=max(elder.last_reinforced, other.last_reinforced),
        version=max(elder.version, other.version) + 1,
    )


def _without(pattern: re.Pattern[str]) -> Callable[[Diary], Diary]:
    def without(diary: Diary) -> Diary:
        kept = {key: one for key, one in diary.lexicon.items() if not pattern.search(one.term)}
        return replace(diary, lexicon=kept)

    return without


RULES: tuple[Rule, ...] = (
    Rule(
        "time-words",
        "'yesterday' was written on another day, and is wrong on every other",
        _without_time_words,
    ),
    Rule(
        "misfiled",
        "what says how to act is about the one who acts, even if the person asked for it",
        _refiled,
    ),
    Rule("twins", "what is there twice would be remembered twice", _without_twins),
    Rule("titles", "a section's title is no phrase that two share", _without(TITLE)),
    Rule(
        "metaphors",
        "a figure of speech is one text's, and no phrase that two share",
        _without(FIGURE),
    ),
)
