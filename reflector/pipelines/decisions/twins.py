"""Texts that say the same, found among many by their words."""

from __future__ import annotations

from collections.abc import Iterable

from reflector.core.overlap import tokens

_SAME = 0.8


class Twins:
    """Texts by number, among which those that say the same as another are found."""

    def __init__(self, texts: Iterable[tuple[int, str]]) -> None:
        """Take the texts."""
        self._texts = [(at, _plain(text), tokens(text)) for at, text in texts]

    def of(self, text: str) -> list[int]:
        """Return the numbers of the texts that say the same, in order."""
        plain, words = _plain(text), tokens(text)
        return [at for at, other, there in self._texts if plain == other or _same(words, there)]


def _plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < 2:
        return False
    return len(one & other) >= _SAME * len(one | other)
