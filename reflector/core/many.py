"""Thousands of passages looked for at once: each is tested only where a word of it occurs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from reflector.core.needle import Needle, passages

FEW = 64
"""Up to so many forms are looked for one by one: that is quicker."""

_WORD = re.compile(rb"[A-Za-z0-9]{3,64}")
_PAIR = re.compile(rb"(?=([\xe0-\xef][\x80-\xbf]{2}[\xe0-\xef][\x80-\xbf]{2}))")


@dataclass(frozen=True, slots=True)
class Many(Needle):
    """A needle of many passages. `keys` names the forms by a word that each of them holds.

    `rest` are forms without such a word.
    """

    keys: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    rest: tuple[bytes, ...] = ()

    def within(self, content: bytes) -> bool:
        """Tell whether one of them is in these bytes, in any form."""
        met = self.keys.keys() & set(_words(content))
        tried = (form for key in met for form in self.keys[key])
        return any(form in content for form in tried) or any(form in content for form in self.rest)


def many(texts: Iterable[str]) -> Needle:
    """Look for these texts, letter for letter, however many there are."""
    plain = passages(texts)
    if len(plain.forms) <= FEW:
        return plain
    inside = {form: frozenset(_inside(form)) for form in plain.forms}
    common = Counter(word for words in inside.values() for word in words)
    keys: dict[bytes, list[bytes]] = {}
    rest: list[bytes] = []
    for form, words in inside.items():
        if words:
            key = min(words, key=lambda word: (common[word], -len(word), word))
            keys.setdefault(key, []).append(form)
        else:
            rest.append(form)
    named = {key: tuple(forms) for key, forms in keys.items()}
    return Many(plain.texts, plain.forms, None, named, tuple(rest))


def _words(content: bytes) -> Iterator[bytes]:
    yield from _WORD.findall(content)
    yield from _PAIR.findall(content)


def _inside(form: bytes) -> Iterator[bytes]:
    """Yield words that stand in any text that holds the form: one at its edge may go on there."""
    for found in _WORD.finditer(form):
        if found.start() > 0 and found.end() < len(form) and found.end() - found.start() < 64:
            yield found.group()
    yield from _PAIR.findall(form)
