"""What a record of the diary says, and whether that is what a person named: in whole words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reflector.core.comparing import folded
from reflector.core.needle import Needle, passages
from reflector.core.tokens import WIDE

SAID: Final = ("text", "evidence", "term", "tags")
"""The fields that say something. The rest, and every field's name, is form: `kind` is in each."""

_WIDE = re.compile(f"[{WIDE}]")


@dataclass(frozen=True, slots=True)
class Named(Needle):
    """Words as a person named them, whatever their case, width and blanks.

    "tea" is not in "team". In scripts without blanks letters are taken as they come.
    """

    wanted: str = ""

    def within(self, content: bytes) -> bool:
        """Tell whether what these bytes hold says them."""
        return holds(self, content)

    def said(self, text: str) -> bool:
        """Tell whether a text says them."""
        return bool(self.wanted) and self._stands(folded(text), whole=True)

    def inside(self, text: str) -> bool:
        """Tell whether a text has their letters, if only within longer words."""
        return bool(self.wanted) and self._stands(folded(text), whole=False)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where they stand in a text, as it was typed."""
        for form in self.texts:
            pattern = re.compile(r"\s+".join(map(re.escape, form.split())), re.IGNORECASE)
            at = 0
            while found := pattern.search(text, at):
                whole = _whole(text, *found.span())
                if whole:
                    yield found.span()
                at = found.end() if whole else found.start() + 1

    def _stands(self, text: str, *, whole: bool) -> bool:
        start = text.find(self.wanted)
        while start >= 0:
            if not whole or _whole(text, start, start + len(self.wanted)):
                return True
            start = text.find(self.wanted, start + 1)
        return False


def words(text: str) -> Named:
    """Look for these words."""
    return Named(passages([text.strip()]).texts, wanted=folded(text))


def holds(wanted: Needle, content: bytes, fields: tuple[str, ...] = SAID) -> bool:
    """Tell whether what a file says in these fields is wanted."""
    return any(wanted.said(text) for text in texts(content, fields))


def texts(content: bytes, fields: tuple[str, ...] = SAID) -> Iterator[str]:
    """Yield what a record's file says in these fields; what is no record says all that it holds."""
    text = content.decode("utf-8", "replace")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        yield text
        return
    for name in fields:
        value = record.get(name)
        listed = value if isinstance(value, list) else [value]
        yield from (each for each in listed if isinstance(each, str))


def _whole(text: str, start: int, end: int) -> bool:
    """Tell whether no word goes on over an edge of this piece."""
    return not any(
        0 < edge < len(text) and _letter(text[edge - 1]) and _letter(text[edge])
        for edge in (start, end)
    )


def _letter(char: str) -> bool:
    """Tell whether a sign is of a word that has ends: a mark belongs to the letter before it."""
    if _WIDE.match(char):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")
