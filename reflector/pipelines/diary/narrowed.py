"""An index for one question: of what cannot answer it, only that it is there is noted."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from reflector.core.diary import Entry
from reflector.core.tokens import asked
from reflector.pipelines.diary.recalling import Index

_BEGINNING = 3
"""Letters that a term and every word it stands for begin with: endings are what stems leave out."""


class Narrowed(Index):
    """Answers its own question as the whole index does, and is made many times quicker.

    To take a text apart is what takes long: most texts hold no beginning of any word asked for.
    """

    def __init__(self, entries: Iterable[Entry], query: str) -> None:
        """Index the entries for one query."""
        terms = (term.rstrip("*") for term in asked(query))
        self._wanted = tuple({_plain(term)[:_BEGINNING] for term in terms if term})
        super().__init__(entries)

    def add(self, entry: Entry) -> None:
        """Add an entry, with its terms only if it can answer."""
        text = _plain(" ".join((entry.text, *entry.tags)))
        if any(beginning in text for beginning in self._wanted):
            super().add(entry)
        else:
            self._slots[entry.id] = len(self._entries)
            self._entries.append(entry)


def _plain(text: str) -> str:
    """Return a text in which more is alike than terms take for alike, never less."""
    if text.isascii():
        return text.lower()
    parted = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in parted if not unicodedata.combining(char))
