"""The numbers of recall: the written defaults, and what settings put in their place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # the settings of every command hold these numbers
    from reflector.core.diary import Kind


@dataclass(frozen=True, slots=True)
class Constants:
    """The numbers of recall. Weights add up a score; the rest are thresholds.

    `factual` kinds tell something about the person's life: brought up at the wrong moment they hurt
    more than a forgotten anecdote, so they have to be asked for more clearly.
    """

    similarity: float = 0.60
    salience: float = 0.20
    freshness: float = 0.15
    mentioned: float = 0.35
    gain_scale: float = 6.0
    fresh_days: float = 30.0
    always: float = 0.80
    least_similarity: float = 0.35
    least_salience: float = 0.5
    least_factual: float = 0.6
    temperature: float = 0.15
    most: int = 2
    quiet_turns: int = 8
    fading_turns: int = 24
    factual: tuple[Kind, ...] = ("disclosure",)


DEFAULTS: Final = Constants()

# What settings write as whole numbers, and what one of them is worth.
_HUNDREDTHS = (
    *("similarity", "salience", "freshness", "mentioned", "always"),
    *("least_similarity", "least_salience", "least_factual", "temperature"),
)
_WHOLE = ("gain_scale", "fresh_days", "most", "quiet_turns", "fading_turns")

WRITTEN: Final = tuple(
    f"{name}={round(getattr(DEFAULTS, name) * (100 if name in _HUNDREDTHS else 1))}"
    for name in (*_HUNDREDTHS, *_WHOLE)
)
"""The defaults as in the settings: `name=number`, weights and thresholds in hundredths."""


def constants_of(values: Iterable[str]) -> Constants:
    """Return the constants with what settings say put in; names they leave out keep their own."""
    said: dict[str, Any] = {}
    for value in values:
        name, _, number = value.partition("=")
        said[name] = int(number) / 100 if name in _HUNDREDTHS else max(1, int(number))
    # A temperature of none would divide by it: the likeliest is drawn all the same.
    coldest = max(0.01, said.get("temperature", DEFAULTS.temperature))
    return replace(DEFAULTS, **said | {"temperature": coldest})
