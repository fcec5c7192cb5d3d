"""Secrets out of what is kept or said: the rules are loaded for a text that could hold one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

# Whatever the rules find stands beside one of these words or is a long run of token characters.
_WORDS = (
    "token", "secret", "passw", "passp", "pwd", "key", "bearer", "authoriz", "://", "-----begin",
    "whsec_", "sntrys_", "ops_eyj", "absk", "fm1", "fm2_", "zxlk",
)  # fmt: skip
_RUN = re.compile(r"[A-Za-z0-9_.-]{18}", re.ASCII)


def suspicious(text: str) -> bool:
    """Tell whether a text could hold a secret: cheap, so that many commands never load the rules."""
    low = text.lower()
    return _RUN.search(text) is not None or any(word in low for word in _WORDS)


def clean(text: str) -> str:
    """Return a text without its secrets."""
    if not suspicious(text):
        return text
    from reflector.core.redact import redact  # noqa: PLC0415 - a dozen patterns, seldom needed

    return redact(text).text


def clean_values(value: Mapping[str, object]) -> Mapping[str, object]:
    """Return a machine form whose strings hold no secret; its keys are ours, and stay."""
    texts = list(_texts(value))
    if not any(map(suspicious, texts)):
        return value
    from reflector.core.redact import redact_record  # noqa: PLC0415 - as above

    cleaned, _ = redact_record(texts)
    filled: dict[str, object] = _filled(value, iter(cleaned))
    return filled


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for each in value.values():
                yield from _texts(each)
        case list() | tuple():
            for each in value:
                yield from _texts(each)
        case _:
            return


def _filled(value: Any, texts: Iterator[str]) -> Any:
    """Put texts where `_texts` took them, in the same order."""
    match value:
        case str():
            return next(texts)
        case Mapping():
            return {name: _filled(each, texts) for name, each in value.items()}
        case list() | tuple():
            return [_filled(each, texts) for each in value]
        case _:
            return value
