"""How what a diary holds fades: evaluated on reading, never written."""

from __future__ import annotations

from datetime import date
from typing import Final

from reflector.core.days import since
from reflector.core.diary import Entry, Trait

DAILY: Final = 0.9
LEAST: Final = 0.10
"""Below this an entry is out of what is shown by itself; it can still be recalled."""


def salience(entry: Entry, today: date) -> float:
    """Return what is left of an entry's salience, by the days since it was last reinforced."""
    return _faded(entry.salience, entry.reinforced_on or entry.date, today)


def weight(trait: Trait, today: date) -> float:
    """Return what is left of a trait's salience; it only ranks, no trait fades out of the block."""
    return _faded(trait.salience, trait.last_reinforced, today)


def vivid(entry: Entry, today: date) -> bool:
    """Tell whether an entry may be shown without being recalled."""
    return salience(entry, today) >= LEAST


def _faded(value: float, day: str, today: date) -> float:
    days = since(day, today)
    return value * DAILY ** (days or 0)
