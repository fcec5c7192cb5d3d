"""A section of the block that lays itself out: it is told its room, and its frame is never cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflector.memory.budget import Limits

_CHARACTERS = 4
"""The least characters of a token, as they are estimated: a text has at most so many for each."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What became of it: the text, and how many of its parts were left out or cut.

    `needs` is how many tokens lay it out just so: fewer may cut several parts by a little each.
    """

    text: str
    omitted: int = 0
    needs: int = 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A section by its name. `render` is given tokens for all but its frame, which comes whole."""

    name: str
    render: Callable[[int], Fit]

    def frame(self, limits: Limits) -> int:
        """Return what it costs with nothing in it."""
        return limits.cost(self.render(0).text)

    def size(self, most: int, limits: Limits) -> int:
        """Return what it would take above its frame, if it could have `most`."""
        return min(most, self.within(most, limits).needs * _token(limits))

    def within(self, room: int, limits: Limits) -> Fit:
        """Lay it out so that it costs at most `room` above its frame."""
        return self.render(max(0, room) // _token(limits))


def _token(limits: Limits) -> int:
    """Return the most that a token of any text costs."""
    return _CHARACTERS * max(limits.chars, _CHARACTERS * limits.tokens)
