"""Texts that say the same, found among many by their words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from reflector.core.overlap import negative, tokens

_SAME = 0.8
_FEWEST = 2


class Twins:
    """Texts by number, among which those that say the same as another are found."""

    def __init__(self, texts: Iterable[tuple[int, str]]) -> None:
        """Take the texts."""
        self._texts = [(at, text, _plain(text), tokens(text)) for at, text in texts]

    def of(self, text: str) -> list[int]:
        """Return the numbers of the texts on the same thing, also those that say the opposite."""
        plain, words = _plain(text), tokens(text)
        return [at for at, _, other, there in self._texts if plain == other or _same(words, there)]

    def saying(self, text: str) -> bool:
        """Tell whether one of the texts says the same, and not the opposite."""
        found = set(self.of(text))
        same = (other for at, other, _, _ in self._texts if at in found)
        return any(negative(text) == negative(other) for other in same)


def _plain(text: str) -> str:
    # `C`, `C++` and `C#` are three things, and so are `< 3` and `> 3`.
    return "".join(
        sign
        for sign in text.casefold()
        if sign.isalnum() or sign == "#" or unicodedata.category(sign) == "Sm"
    )


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < _FEWEST:
        return False
    return len(one & other) >= _SAME * len(one | other)
