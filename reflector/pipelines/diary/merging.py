"""Two versions of a diary made one: by our own rules, whether or not their texts conflict.

`merge` knows what both came from, `join` does not: replicas that meet by packs alone come to the
same diary in whatever order they meet. What is deleted is dead in every life up to its tombstone's
version, and only what is brought back on purpose gets a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Generic, Protocol, TypeVar

from reflector.core.diary import Diary, Entry, Term, Tombstone, Trait
from reflector.pipelines.diary import records, uniting
from reflector.pipelines.diary.settling import ends, settled, term_tombstone
from reflector.pipelines.diary.uniting import Record, changed, same

_R = TypeVar("_R", Entry, Trait, Term)
Graves = dict[str, Tombstone]


def merge(base: Diary, ours: Diary, theirs: Diary) -> Diary:
    """Return what both sides made of `base`: every addition once, every change of one side.

    `ours` is what stands now: its persona wins where both changed it. A record that one side left
    out is deleted unless the other changed it; one that has a tombstone is dead whatever was done
    to it meanwhile.
    """
    name = ours.replica or theirs.replica or base.replica
    base = settled(replace(base, replica=name))
    ours, theirs = (settled(replace(side, replica=name), base) for side in (ours, theirs))
    graves = _graves(ours, theirs)
    damaged = {*base.damaged, *ours.damaged, *theirs.damaged}
    terms = replace(
        _TERMS, merge=lambda was, one, other: uniting.merged_term(was, one, other, name)
    )

    def of(kind: _Kind[_R]) -> dict[str, _R]:
        sides = kind.of(base), kind.of(ours), kind.of(theirs)
        return _merged(kind, sides, graves, damaged)

    return replace(
        ours,
        entries=of(_ENTRIES),
        traits=of(_TRAITS),
        lexicon=of(terms),
        tombstones=graves,
        persona=changed(base.persona, ours.persona, theirs.persona, ours.persona),
        mood=uniting.mood(ours.mood, theirs.mood, base.mood),
    )


def join(ours: Diary, theirs: Diary) -> Diary:
    """Return what two replicas know together; in whatever order they meet, it is the same.

    Persona, notes and name stay those of `ours`: each replica has its own. A persona that is not
    there is taken over.
    """
    persona, mood = ours.persona or theirs.persona, uniting.mood(ours.mood, theirs.mood)
    return replace(_met(ours, theirs, _united), persona=persona, mood=mood)


def replaced(ours: Diary, theirs: Diary) -> Diary:
    """Return `theirs` in the place of `ours`: what was deleted here and is there lives again.

    What is not there gets a tombstone, so that no old session and no replica brings it back.
    """
    persona = theirs.persona or ours.persona
    return replace(_met(ours, theirs, _instead), persona=persona, mood=theirs.mood)


def buried(before: Diary, after: Diary) -> Diary:
    """Return `after` with a tombstone for each record of `before` that it has left out."""
    graves = dict(after.tombstones)

    def bury(kind: _Kind[_R]) -> None:
        there = kind.of(after)
        for key, record in kind.of(before).items():
            if key not in there and kind.path(record) not in after.damaged:
                _bury(graves, kind.grave(record), record)

    bury(_ENTRIES)
    bury(_TRAITS)
    bury(_TERMS)
    return replace(after, tombstones=graves)


@dataclass(frozen=True, slots=True)
class _Kind(Generic[_R]):
    """How the records of one kind are found, named and made one."""

    of: Callable[[Diary], Mapping[str, _R]]
    grave: Callable[[_R], str]
    path: Callable[[_R], str]
    join: Callable[[_R, _R], _R]
    merge: Callable[[_R | None, _R, _R], _R]


_ENTRIES: Final[_Kind[Entry]] = _Kind(
    lambda diary: diary.entries,
    lambda entry: entry.id,
    records.entry_path,
    uniting.entry,
    uniting.merged_entry,
)
_TRAITS: Final[_Kind[Trait]] = _Kind(
    lambda diary: diary.traits,
    lambda trait: trait.id,
    records.trait_path,
    uniting.trait,
    uniting.merged_trait,
)
_TERMS: Final[_Kind[Term]] = _Kind(
    lambda diary: diary.lexicon,
    lambda term: term_tombstone(term.term),
    lambda term: records.term_path(term.term),
    uniting.term,
    lambda _, one, other: uniting.term(one, other),
)


class _Rule(Protocol):
    """What becomes of the records of one kind when two diaries meet; it may add graves."""

    def __call__(
        self, kind: _Kind[_R], ours: Mapping[str, _R], theirs: Mapping[str, _R], graves: Graves, /
    ) -> dict[str, _R]: ...


def _met(ours: Diary, theirs: Diary, rule: _Rule) -> Diary:
    """Return `ours` with the records that a rule makes of both."""
    graves = _graves(ours, theirs)
    ours, theirs = settled(ours), settled(theirs)

    def of(kind: _Kind[_R]) -> dict[str, _R]:
        return rule(kind, kind.of(ours), kind.of(theirs), graves)

    return replace(
        ours,
        entries=of(_ENTRIES),
        traits=of(_TRAITS),
        lexicon=of(_TERMS),
        tombstones=graves,
    )


def _united(
    kind: _Kind[_R], ours: Mapping[str, _R], theirs: Mapping[str, _R], graves: Graves
) -> dict[str, _R]:
    found = dict(ours)
    for key, record in theirs.items():
        there = found.get(key)
        if there is None:
            found[key] = record
        elif there.life == record.life:
            found[key] = kind.join(there, record)
        else:  # whatever was said in a former life is dead
            found[key] = max(there, record, key=_life)
    return _alive(kind, found, graves)


def _merged(
    kind: _Kind[_R],
    sides: tuple[Mapping[str, _R], Mapping[str, _R], Mapping[str, _R]],
    graves: Graves,
    damaged: set[str],
) -> dict[str, _R]:
    was, ours, theirs = sides
    found: dict[str, _R] = {}
    for key in {**was, **ours, **theirs}:
        base, one, other = was.get(key), ours.get(key), theirs.get(key)
        if base is not None and kind.path(base) in damaged:  # what cannot be read is not deleted
            one, other = one or base, other or base
        left = one or other
        if one is not None and other is not None:
            found[key] = _three(kind, base, one, other)
        elif left is not None and (base is None or not same(left, base)):
            found[key] = left
        elif base is not None:
            _bury(graves, kind.grave(base), base)
    return _alive(kind, found, graves)


def _three(kind: _Kind[_R], base: _R | None, ours: _R, theirs: _R) -> _R:
    if base is not None and same(theirs, base):
        return ours
    if base is not None and same(ours, base):
        return theirs
    # Two that are equal are not passed over: 5 to 6 on both sides is 7.
    if ours.life != theirs.life:
        return max(ours, theirs, key=_life)
    done = kind.merge(base, ours, theirs)
    if same(done, ours) or same(done, theirs):
        return done
    return replace(done, version=max(ours.version, theirs.version) + 1)


def _instead(
    kind: _Kind[_R], ours: Mapping[str, _R], theirs: Mapping[str, _R], graves: Graves
) -> dict[str, _R]:
    found: dict[str, _R] = {}
    for key, record in theirs.items():
        there, grave = ours.get(key), graves.get(kind.grave(record))
        dead = grave.version if grave else 0
        if there is not None and same(_bare(there), _bare(record)):
            found[key] = there
        elif there is None and record.life > dead:
            found[key] = record
        else:
            before = there or record
            life = max(record.life, before.life, dead) + 1
            version = max(record.version + 1, before.version + 1, life)
            found[key] = replace(record, life=life, version=version)
    for key, record in ours.items():
        if key not in found:
            _bury(graves, kind.grave(record), record)
    return found


def _bare(record: _R) -> _R:
    """Return a record without what only tells when it was changed."""
    return replace(record, life=1, version=1)


def _alive(kind: _Kind[_R], found: Mapping[str, _R], graves: Graves) -> dict[str, _R]:
    return {
        key: record
        for key, record in found.items()
        if not ends(graves.get(kind.grave(record)), record.life)
    }


def _life(record: Record) -> int:
    return record.life


def _graves(*diaries: Diary) -> Graves:
    found: Graves = {}
    for diary in diaries:
        for name, tombstone in diary.tombstones.items():
            there = found.get(name, tombstone)
            found[name] = max(there, tombstone, key=lambda one: one.version)
    return found


def _bury(graves: Graves, name: str, record: Record) -> None:
    there = graves.get(name)
    if there is None or there.version < record.life:
        graves[name] = Tombstone(name, record.life)
