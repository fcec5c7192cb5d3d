"""A diary before it is written or merged: who added what is told apart, and what is dead is gone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from reflector.core.diary import Diary, Entry, Part, Term, Tombstone, Trait, term_key
from reflector.pipelines.diary import counting, parts


def settled(diary: Diary, like: Diary | None = None) -> Diary:
    """Return a diary whose texts and counts say who added what, without records that are dead.

    `like` is the diary that it came from: for records that were made anew under their old ids.
    A term without shares was coined just now: one that had been deleted begins a new life.
    """
    was = like or diary
    entries = {
        entry.id: parts.settled(entry, _parts(was, entry.id)) for entry in diary.entries.values()
    }
    traits = {trait.id: trait for trait in diary.traits.values()}
    return replace(
        diary,
        entries={name: entry for name, entry in entries.items() if not _dead(diary, name, entry)},
        traits={name: trait for name, trait in traits.items() if not _dead(diary, name, trait)},
        lexicon={term_key(term.term): term for term in _terms(diary, was)},
    )


def term_tombstone(term: str) -> str:
    """Return the id that a term's tombstone has: a hash, since a tombstone says no word of it."""
    return digest(f"term\0{term_key(term)}")[:16]


def digest(text: str) -> str:
    """Return the hash of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def ends(grave: Tombstone | None, life: int) -> bool:
    """Tell whether a tombstone ends that life of its record."""
    return grave is not None and grave.version >= life


def _dead(diary: Diary, name: str, record: Entry | Trait) -> bool:
    return ends(diary.tombstones.get(name), record.life)


def _terms(diary: Diary, was: Diary) -> Iterator[Term]:
    for term in diary.lexicon.values():
        grave = diary.tombstones.get(term_tombstone(term.term))
        known = was.lexicon.get(term_key(term.term))
        if grave is None or not ends(grave, term.life):
            yield counting.settled(term, diary.replica, known.counts if known else ())
        elif not term.counts:
            life = grave.version + 1
            fresh = replace(term, life=life, version=max(term.version, life))
            yield counting.settled(fresh, diary.replica)


def _parts(diary: Diary, entry_id: str) -> tuple[Part, ...]:
    known = diary.entries.get(entry_id)
    return known.parts if known else ()
