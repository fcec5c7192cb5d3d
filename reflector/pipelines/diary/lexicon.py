"""Which of the phrases that two share occur in what is said."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reflector.core.comparing import folded
from reflector.core.diary import Term, term_key

MOST = 4


def occurring(terms: Iterable[Term], text: str) -> tuple[Term, ...]:
    """Return the terms that occur in a text as whole words, those used most first."""
    said = folded(text)
    found = [term for term in terms if _occurs(term_key(term.term), said)]
    found.sort(key=lambda term: (-term.count, term.term))
    return tuple(found[:MOST])


def _occurs(term: str, said: str) -> bool:
    if not term or term not in said:
        return False
    # Only letters of scripts that put blanks between words have an edge that could be missed.
    left = r"(?<![a-z0-9_\u00c0-\u024f])" if _spaced(term[0]) else ""
    right = r"(?![a-z0-9_\u00c0-\u024f])" if _spaced(term[-1]) else ""
    return re.search(left + re.escape(term) + right, said) is not None


def _spaced(char: str) -> bool:
    return char.isalnum() and char < "\u0250"
