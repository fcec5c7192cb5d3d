"""The admission law: which deltas friction has shown to matter, decided from the ledger alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reflector.core.decision import Kind, Recorded, Told
from reflector.core.overlap import alike, states, tokens

Mode = Literal["law", "all"]
Ground = Literal["regression", "subtle", "corrected_twice", "reversal", "by_hand", "all", "waiting"]
"""What makes a delta eligible; `waiting` for one that is not."""

_OWN = frozenset({Kind.ARCHITECTURE, Kind.PRODUCT, Kind.STYLE})
"""Kinds with a home of their own. The others are about something of any kind."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What the ledger knows about the subject of one delta: deltas in order of speaking, bullets."""

    deltas: tuple[Recorded, ...] = ()
    bullets: tuple[Told, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the law says of one delta, and on what lineage (without the delta itself)."""

    recorded: Recorded
    ground: Ground
    lineage: Lineage = field(default_factory=Lineage)

    @property
    def eligible(self) -> bool:
        """Tell whether it may enter the files."""
        return self.ground != "waiting"


@dataclass(frozen=True, slots=True)
class History:
    """What the ledger knows: every delta that was ever admitted, and every bullet ever written."""

    deltas: Sequence[Recorded] = ()
    bullets: Sequence[Told] = ()


def eligible(deltas: Sequence[Recorded], history: History, mode: Mode) -> list[Ruling]:
    """Rule on deltas, in their order. `history` may hold them as well; they count once."""
    past = _Past({one.id: one for one in (*history.deltas, *deltas)}, history.bullets)
    return [_ruled(one, past.lineage(one), mode) for one in deltas]


def _ruled(one: Recorded, lineage: Lineage, mode: Mode) -> Ruling:
    members = sorted((one, *lineage.deltas), key=lambda each: each.id)
    if one.origin == "person":
        return Ruling(one, "by_hand", lineage)
    if any(each.delta.friction.regression for each in members):
        return Ruling(one, "regression", lineage)
    if any(each.delta.friction.subtle for each in members):
        return Ruling(one, "subtle", lineage)
    corrected = {each.conversation for each in members if each.delta.friction.corrective}
    if len(corrected) >= 2:
        return Ruling(one, "corrected_twice", lineage)
    if any(_reverses(each, members, lineage.bullets) for each in members):
        return Ruling(one, "reversal", lineage)
    return Ruling(one, "all" if mode == "all" else "waiting", lineage)


def _reverses(one: Recorded, members: Sequence[Recorded], bullets: Sequence[Told]) -> bool:
    """Tell whether a delta turns away what was used before it, or was turned away before."""
    rejected = one.delta.rejected_alternative
    if not rejected:
        return False
    earlier = [each for each in members if each.id < one.id]
    return any(
        states(each.delta.statement, rejected) or states(each.delta.rejected_alternative, rejected)
        for each in earlier
    ) or any(states(each.text, rejected) for each in bullets if one.id not in each.deltas)


class _Past:
    """The ledger by words: of thousands of deltas only those that share some are compared."""

    def __init__(self, deltas: Mapping[int, Recorded], bullets: Sequence[Told]) -> None:
        self._deltas = deltas
        self._bullets = bullets
        self._words = {each.id: tokens(each.delta.statement) for each in deltas.values()}
        self._by_word = _index((each.id, self._words[each.id]) for each in deltas.values())
        self._told = [tokens(each.text) for each in bullets]
        self._told_by_word = _index(enumerate(self._told))

    def lineage(self, one: Recorded) -> Lineage:
        words = self._words[one.id]
        bullets = [
            self._bullets[at]
            for at in sorted(_near(words, self._told_by_word, self._told.__getitem__))
            if self._bullets[at].bank == one.bank
        ]
        ids = set(_near(words, self._by_word, self._words.__getitem__))
        # What a model took for the grounds of one bullet belongs together, whatever its words.
        ids.update(each for bullet in bullets for each in bullet.deltas)
        found = (self._deltas[each] for each in sorted(ids - {one.id}) if each in self._deltas)
        return Lineage(tuple(each for each in found if _kin(one, each)), tuple(bullets))


def _index(texts: Iterable[tuple[int, frozenset[str]]]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, words in texts:
        for word in words:
            found[word].append(at)
    return found


def _near(
    words: frozenset[str],
    by_word: Mapping[str, Sequence[int]],
    words_of: Callable[[int], frozenset[str]],
) -> Iterator[int]:
    hopeful = {at for word in words for at in by_word.get(word, ())}
    return (at for at in hopeful if alike(words, words_of(at)))


def _kin(one: Recorded, other: Recorded) -> bool:
    """Tell whether two deltas may be of one lineage: one bank, and kinds that go together."""
    kinds = {one.delta.kind, other.delta.kind}
    return one.bank == other.bank and (len(kinds) == 1 or not kinds <= _OWN)
