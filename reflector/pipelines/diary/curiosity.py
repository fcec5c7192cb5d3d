"""When an agent may ask a question about the person that nobody asked for."""

from __future__ import annotations

from datetime import date

from reflector.core.days import since
from reflector.pipelines.diary.language import Language

_SAYS: dict[Language, str] = {
    "en": "If the moment is right, you may ask one thing about {name} that you would simply like to"
    " know; one, and only if it fits.",
    "zh": "如果时机合适，可以问一件你单纯想知道的、关于{name}的事；只问一件，不合适就算了。",
}


def due(last_asked: str, today: date, least_days: int) -> bool:
    """Tell whether a question is due: the last one was that many local days ago, or never.

    `last_asked` is the local date (`2026-11-30`) on which the leave was last given, "" for never.
    """
    days = since(last_asked, today)
    return days is None or days >= max(1, least_days)


def sentence(name: str, language: Language) -> str:
    """Return the sentence that gives leave to ask."""
    return _SAYS[language].format(name=name)
