"""One slow variable that colours one clause of the frame, and never what is right."""

from __future__ import annotations

from datetime import date
from typing import Final

from reflector.core.days import since
from reflector.core.diary import Mood
from reflector.pipelines.diary.language import Language

STEP: Final = 0.15
KEPT_DAILY: Final = 0.8
FELT: Final = 0.2
_STRONG = 0.6

_CLAUSES: Final[dict[Language, tuple[str, str, str, str]]] = {
    "en": (
        "you are low and a little short of words",
        "you are somewhat subdued",
        "you are in quite a good mood",
        "you are in high spirits",
    ),
    "zh": ("你有些低落，话不多", "你情绪稍微有点沉", "你心情不错", "你兴致很高"),
}


def returned(mood: Mood, today: date) -> Mood:
    """Return the mood as it is today: each local day takes it nearer to neutral."""
    days = since(mood.day, today) or 0
    return Mood(_bounded(mood.value) * KEPT_DAILY**days, today.isoformat())


def moved(mood: Mood, today: date, nudge: float) -> Mood:
    """Move the mood of today a little: `nudge` is -1 (it went badly) to 1 (it went well)."""
    now = returned(mood, today)
    return Mood(_bounded(now.value + STEP * _bounded(nudge)), now.day)


def clause(mood: Mood, today: date, language: Language = "en") -> str:
    """Say the mood in a clause; "" while it is near neutral."""
    value = returned(mood, today).value
    if abs(value) < FELT:
        return ""
    low, down, up, high = _CLAUSES[language]
    if value > 0:
        return high if value >= _STRONG else up
    return low if value <= -_STRONG else down


def _bounded(value: float) -> float:
    # A comparison with what is no number is false, so that it falls through to neutral.
    return max(-1.0, min(1.0, value)) if value == value else 0.0  # noqa: PLR0124 - NaN alone differs from itself
