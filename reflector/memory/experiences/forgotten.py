"""What a person had forgotten, as a commit tells it: what rested on it, and whether a text is it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from reflector.core.cleaning import clean
from reflector.memory.commit_message import GENERATED_BY, CommitMessage
from reflector.memory.experiences.form import FOLDERS, Layer, Stored
from reflector.memory.experiences.inheritance import only, told

TRAILER: Final = "Memory-Forgot"


@dataclass(frozen=True, slots=True)
class Gone:
    """One item that was forgotten, and the entries that it rested on: ids alone, no word of it."""

    layer: Layer
    id: str
    entries: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what a trailer says; an entry that would not come back whole is left out."""
        entries = (one for one in self.entries if one == clean(one) and _is_word(one))
        return " ".join((self.layer, self.id, *dict.fromkeys(entries)))


def _is_word(entry: str) -> bool:
    return entry.isprintable() and [entry] == entry.split()


def gone_in(message: CommitMessage) -> Iterator[Gone]:
    """Yield what a person's commit says was forgotten by it."""
    if GENERATED_BY in message.trailers:
        return  # a run forgets for nobody, whatever a conversation makes it write
    for name, value in message.trailers:
        said = value.split() if name == TRAILER else []
        for layer in FOLDERS:
            if len(said) > 1 and said[0] == layer:
                yield Gone(layer, said[1], tuple(said[2:]))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Everything that was forgotten and is not there again. `texts` are what history still has."""

    items: tuple[Gone, ...] = ()
    texts: tuple[Stored, ...] = ()
    _said: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Take the sentences out once; all drafts are compared with them."""
        object.__setattr__(self, "_said", frozenset(told(self.texts)))

    def holds(self, layer: Layer, text: str, entries: Iterable[str], read: Collection[str]) -> bool:
        """Tell whether an item would bring back what was forgotten.

        It does when it rests on an entry of those that are `read`, and something of its layer that
        rested on that entry was forgotten; or when each of its sentences was.
        """
        rested = {one for each in self.items if each.layer == layer for one in each.entries}
        if rested.intersection(entries) & set(read):
            return True
        return only(text, self._said)
