"""The admission law: which deltas friction has shown to matter, decided from the ledger alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reflector.core.decision import Kind, Recorded, Told
from reflector.core.overlap import Overlaps, states, tokens

Mode = Literal["law", "all"]
Ground = Literal["regression", "subtle", "corrected_twice", "reversal", "by_hand", "all", "waiting"]
"""What makes a delta eligible; `waiting` for one that is not."""

_OWN = frozenset({Kind.ARCHITECTURE, Kind.PRODUCT, Kind.STYLE})
"""Kinds with a home of their own. The others are about something of any kind."""


SHOWN = 100
"""So many deltas of a lineage a ruling names; the law looks at all."""

_TWICE = 2


@dataclass(frozen=True, slots=True)
class Lineage:
    """What the ledger knows about the subject of one delta: the last deltas in order, and bullets."""

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
    known = {one.id: one for one in (*history.deltas, *deltas)}
    banks = {one.bank for one in deltas}
    pasts = {bank: _Past(bank, known.values(), history.bullets) for bank in banks}
    return [pasts[one.bank].ruled(one, mode) for one in deltas]


class _Past:
    """What the ledger knows of one bank, by words: thousands of deltas are not compared in pairs."""

    def __init__(self, bank: str, deltas: Iterable[Recorded], bullets: Iterable[Told]) -> None:
        self._deltas = {each.id: each for each in deltas if each.bank == bank}
        self._bullets = [each for each in bullets if each.bank == bank]
        self._words = {at: tokens(each.delta.statement) for at, each in self._deltas.items()}
        # A reversal names what it turns away, and what it turns away says nothing of the reversal.
        self._subjects = {
            at: words | tokens(self._deltas[at].delta.rejected_alternative)
            for at, words in self._words.items()
            if self._deltas[at].delta.rejected_alternative
        }
        self._like = Overlaps(self._words.items())
        self._subject_like = Overlaps(self._subjects.items())
        self._told_like = Overlaps(enumerate(tokens(each.text) for each in self._bullets))
        self._of_kind: dict[Kind, set[int]] = {
            kind: {at for at, each in self._deltas.items() if _kin(kind, each.delta.kind)}
            for kind in Kind
        }
        self._regression = self._where(lambda one: one.delta.friction.regression)
        self._subtle = self._where(lambda one: one.delta.friction.subtle)
        self._corrective = self._where(lambda one: one.delta.friction.corrective)
        self._rejecting = self._where(lambda one: bool(one.delta.rejected_alternative))

    def _where(self, holds: Callable[[Recorded], bool]) -> set[int]:
        return {at for at, each in self._deltas.items() if holds(each)}

    def ruled(self, one: Recorded, mode: Mode) -> Ruling:
        words = self._words[one.id]
        told, ids = self._told_like.like(words), self._like.like(words)
        ids |= self._subject_like.like(words)
        if subject := self._subjects.get(one.id):
            told |= self._told_like.like(subject)
            ids |= self._like.like(subject)
        bullets = [self._bullets[at] for at in sorted(told)]
        # What a model took for the grounds of one bullet belongs together, whatever its words.
        ids.update(each for bullet in bullets for each in bullet.deltas)
        ids = {one.id} | (ids & self._of_kind[one.delta.kind])
        ground = self._ground(one, ids, bullets)
        if ground == "waiting" and mode == "all":
            ground = "all"
        shown = sorted(ids - {one.id})[-SHOWN:]
        return Ruling(
            one, ground, Lineage(tuple(map(self._deltas.__getitem__, shown)), tuple(bullets))
        )

    def _ground(self, one: Recorded, ids: set[int], bullets: Sequence[Told]) -> Ground:
        if one.origin == "person":
            return "by_hand"
        if ids & self._regression:
            return "regression"
        if ids & self._subtle:
            return "subtle"
        if len({self._deltas[each].conversation for each in ids & self._corrective}) >= _TWICE:
            return "corrected_twice"
        reversals = (self._deltas[each] for each in ids & self._rejecting)
        if any(self._reverses(each, ids, bullets) for each in reversals):
            return "reversal"
        return "waiting"

    def _reverses(self, one: Recorded, ids: set[int], bullets: Sequence[Told]) -> bool:
        """Tell whether a delta turns away what was used before it, or was turned away before."""
        rejected = one.delta.rejected_alternative
        before = (self._deltas[each].delta for each in ids if each < one.id)
        return any(
            states(each.statement, rejected) or states(each.rejected_alternative, rejected)
            for each in before
        ) or any(states(each.text, rejected) for each in bullets if one.id not in each.deltas)


def _kin(one: Kind, other: Kind) -> bool:
    """Tell whether deltas of two kinds may be of one lineage."""
    return one == other or not {one, other} <= _OWN
