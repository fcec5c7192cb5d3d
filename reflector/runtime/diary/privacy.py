"""What a text must be before the diary keeps it: without secrets, and about nobody else by name."""

from __future__ import annotations

from collections.abc import Iterable

from reflector.core.cleaning import clean
from reflector.pipelines.diary.generalise import generalise
from reflector.runtime.wiring import Context

GENERALISE = "diary.generalise_third_parties"


def private(context: Context, text: str, keep: Iterable[str] = ()) -> str:
    """Return a text as it may be kept. `keep` are more names of the person whose diary it is.

    Secrets always go; other people are made general unless the person chose otherwise.
    """
    safe = clean(text)
    if not context.settings.flag(GENERALISE):
        return safe
    return generalise(safe, (context.settings.text("diary.nickname"), *keep))
