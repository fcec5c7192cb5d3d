"""How two versions of one record become one: field by field, with or without what both came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from reflector.core.diary import Entry, Mood, Term, Trait
from reflector.pipelines.diary import counting, parts

_T = TypeVar("_T")
Record = Entry | Trait | Term


def same(one: Record, other: Record) -> bool:
    """Tell whether two records agree in every field, those that are not compared too."""
    match one, other:
        case Entry(), Entry():
            return one == other and one.parts == other.parts
        case Term(), Term():
            return one == other and one.counts == other.counts
        case _:
            return one == other


def entry(ours: Entry, theirs: Entry) -> Entry:
    """Return what two replicas' versions of an entry say together."""
    newer = max(ours, theirs, key=_facts)
    pieces = parts.joined(ours.parts, theirs.parts)
    return replace(
        newer,
        text="".join(part.text for part in pieces),
        parts=pieces,
        tags=_all_tags(ours.tags, theirs.tags),
        salience=max(ours.salience, theirs.salience),
        resolved=ours.resolved or theirs.resolved,
        created_at=_earlier(ours.created_at, theirs.created_at),
        updated_at=max(ours.updated_at, theirs.updated_at),
        reinforced_on=max(ours.reinforced_on, theirs.reinforced_on),
    )


def _facts(entry: Entry) -> tuple[int, str, str, str, int]:
    turn = -1 if entry.turn is None else entry.turn
    return (entry.version, entry.date, entry.kind, entry.conversation, turn)


def merged_entry(base: Entry | None, ours: Entry, theirs: Entry) -> Entry:
    """Return what two sides made of an entry that they had in common."""
    done = entry(ours, theirs)
    if base is None:
        return done
    return replace(
        done,
        date=changed(base.date, ours.date, theirs.date, done.date),
        kind=changed(base.kind, ours.kind, theirs.kind, done.kind),
        conversation=changed(
            base.conversation, ours.conversation, theirs.conversation, done.conversation
        ),
        turn=changed(base.turn, ours.turn, theirs.turn, done.turn),
        tags=changed(base.tags, ours.tags, theirs.tags, done.tags),
    )


def trait(ours: Trait, theirs: Trait) -> Trait:
    """Return the later version of a trait, with the most that either felt."""
    return replace(
        max(ours, theirs, key=_meaning),
        salience=max(ours.salience, theirs.salience),
        last_reinforced=max(ours.last_reinforced, theirs.last_reinforced),
    )


def _meaning(trait: Trait) -> tuple[int, str, str, str, float]:
    return (trait.version, trait.text, trait.evidence, trait.about, trait.confidence)


def merged_trait(base: Trait | None, ours: Trait, theirs: Trait) -> Trait:
    """Return what two sides made of a trait that they had in common."""
    done = trait(ours, theirs)
    if base is None:
        return done
    # A text and its moment belong together: a text with another's evidence would be invented.
    said = changed(_said(base), _said(ours), _said(theirs), _said(done))
    return replace(
        done,
        text=said[0],
        evidence=said[1],
        about=changed(base.about, ours.about, theirs.about, done.about),
        confidence=changed(base.confidence, ours.confidence, theirs.confidence, done.confidence),
    )


def _said(trait: Trait) -> tuple[str, str]:
    return trait.text, trait.evidence


def term(ours: Term, theirs: Term) -> Term:
    """Return what two replicas' versions of a term say together."""
    shares = counting.joined(ours.counts, theirs.counts)
    return replace(
        max(ours, theirs, key=lambda term: (term.version, term.term)),
        counts=shares,
        count=counting.total(shares),
        last_used=max(ours.last_used, theirs.last_used),
    )


def merged_term(base: Term | None, ours: Term, theirs: Term, replica: str) -> Term:
    """Return what two sides made of a term, each counting on from the same number."""
    done = term(ours, theirs)
    start = base or replace(ours, count=0, counts=())
    shares = counting.summed(start, ours, theirs, replica)
    spelled = changed(start.term, ours.term, theirs.term, done.term)
    return replace(done, term=spelled, counts=shares, count=counting.total(shares))


def changed(base: _T, ours: _T, theirs: _T, both: _T) -> _T:
    """Return what the side that changed a value made of it; `both` where both did."""
    if ours == base:
        return theirs
    return ours if theirs == base else both


def mood(ours: Mood, theirs: Mood, base: Mood | None = None) -> Mood:
    """Return the later mood, or that of the side which changed it."""
    both = max(ours, theirs, key=lambda mood: (mood.day, mood.value))
    return both if base is None else changed(base, ours, theirs, both)


def _earlier(one: str, other: str) -> str:
    return min(filter(None, (one, other)), default="")


def _all_tags(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return ours if ours == theirs else tuple(sorted({*ours, *theirs}))
