"""How long a text is in tokens, and how sections share a budget without starving each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_QUARTERS = 4
_More = TypeVar("_More")


def estimate_tokens(text: str) -> int:
    """Estimate tokens: 4 ASCII characters to one, 2 of other alphabets, 1 of CJK, half an emoji."""
    return -(-_quarters(text) // _QUARTERS)


def _quarters(text: str) -> int:
    if text.isascii():
        return len(text)
    plain = len(text.encode("ascii", "ignore"))
    wide, astral = len(_WIDE.findall(text)), len(_ASTRAL.findall(text))
    return plain + 2 * (len(text) - plain - wide - astral) + 4 * wide + 8 * astral


@dataclass(frozen=True, slots=True)
class Limits:
    """Two ceilings as one number: costs add up, and a sum within `total` is within both."""

    tokens: int
    chars: int

    @property
    def total(self) -> int:
        """Return the cost that may be spent."""
        return self.tokens * _QUARTERS * self.chars

    def cost(self, text: str) -> int:
        """Return what a text takes: its share of the scarcer of the two."""
        return max(_quarters(text) * self.chars, len(text) * self.tokens * _QUARTERS)

    def cost_of_tokens(self, tokens: int) -> int:
        """Return the cost of that many tokens of plain text."""
        return tokens * self.total // self.tokens


@dataclass(frozen=True, slots=True)
class Claim:
    """What one section asks of a budget. All but the weight are costs."""

    size: int
    floor: int
    ceiling: int
    weight: int


def allot(claims: Sequence[Claim], total: int) -> tuple[int, ...]:
    """Give every claim its floor, then share the rest by weight. The sum is at most `total`.

    Floors that do not fit together are lowered in proportion. No claim gets more than its size or
    its ceiling; what one does not need goes to the others.
    """
    tops = [min(claim.size, max(claim.ceiling, claim.floor)) for claim in claims]
    given = [min(claim.floor, top) for claim, top in zip(claims, tops, strict=True)]
    if (asked := sum(given)) > total:
        return tuple(floor * max(total, 0) // asked for floor in given)
    hungry = [i for i, top in enumerate(tops) if given[i] < top]
    while hungry:
        rest = total - sum(given)
        weights = sum(claims[i].weight for i in hungry)
        more = {i: min(rest * claims[i].weight // weights, tops[i] - given[i]) for i in hungry}
        if not any(more.values()):
            break
        for i, cost in more.items():
            given[i] += cost
        hungry = [i for i in hungry if given[i] < tops[i]]
    return tuple(given)


def settled(
    assemble: Callable[[int], tuple[str, _More]], room: int, limits: Limits
) -> tuple[str, _More]:
    """Assemble within a room, measure the whole, shrink the room by the excess, and again.

    Whatever a part was estimated at, it is the whole that has to keep to the limits. With no room
    left the frame alone remains, which fits.
    """
    while True:
        text, more = assemble(room)
        excess = limits.cost(text) - limits.total
        if excess <= 0 or room <= 0:
            return text, more
        room = max(0, room - excess)
