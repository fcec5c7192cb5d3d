"""What a text is searched by: the terms it is indexed under, and the terms a query asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

VERSION = 1
"""Goes up with every change of what a text's terms are: indexes of another one are made anew."""

LONGEST = 64
_PIECES = 6
_MARKS = "\u0300-\u036f"

# Scripts that put no blanks between words (and Korean, whose particles cling to the word): runs of
# them are searched by pairs of neighbours.
WIDE = (
    "\u0e00-\u0e7f\u1100-\u11ff\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# What nearly every English question holds and no answer is known by, without its endings.
_EMPTY = re.compile(
    r"(?:a|an|and|are|as|at|be|been|but|by|can|could|did|do|doe|for|from|had|has|have|how"
    r"|i|if|in|into|is|it|its|me|my|not|of|on|or|our|should|so|than|that|the|their|them|then"
    r"|ther|thes|they|this|to|too|was|we|were|what|when|wher|which|whil|who|why|will"
    r"|with|would|you|your)\Z"
)
_WORD = rf"[^\W{WIDE}{_MARKS}]+"
_RUN = re.compile(
    rf"(?P<wide>[{WIDE}]+)|{_WORD}(?:(?:::|->|[-./:\\@'’~]){_WORD})*(?:\+\+|\#(?!\w))?"
)
_JOINED = re.compile(r"\W+")
_INNER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_NUMBERS = re.compile(r"[vV]?(\d+(?:\.\d+)+)\Z")
_MARK = re.compile(rf"(?<=[a-z])[{_MARKS}]+")
_VOWEL = re.compile(r"[aeiouy]")


def terms(text: str) -> list[str]:
    """Return the terms a text is indexed under, in order; one that occurs again comes again.

    A term holds letters, digits and, in versions, points. The last character of a wide run is a
    term of its own, so that each of its characters begins one and can be asked for alone.
    """
    found: list[str] = []
    for run in _RUN.finditer(_composed(text)):
        if wide := run["wide"]:
            found += [wide[at : at + 2] for at in range(len(wide))]
        else:
            found += _word(run[0])
    return found


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def asked(query: str) -> dict[str, str]:
    """Return the terms a query asks for, each with its word there; `a*` asks for a beginning.

    Words like "the" and "how" are left out unless there are no others.
    """
    found: dict[str, str] = {}
    for run in _RUN.finditer(_composed(query)):
        if not (wide := run["wide"]):
            found |= dict.fromkeys(_word(run[0]), run[0])
        elif len(wide) == 1:
            found[f"{wide}*"] = wide
        else:
            found |= {wide[at : at + 2]: wide[at : at + 2] for at in range(len(wide) - 1)}
    return {term: word for term, word in found.items() if not _EMPTY.match(term)} or found


def satisfied(term: str, present: set[str]) -> bool:
    """Tell whether what a query asks for is among the terms of a text."""
    if term.endswith("*"):
        return any(each.startswith(term[:-1]) for each in present)
    return term in present


@lru_cache(maxsize=1 << 15)
def _word(chunk: str) -> tuple[str, ...]:
    """Return the terms of a word, an identifier, a path, a version: as a whole, then its parts."""
    return tuple(term for term in _parts(chunk) if term)


def _parts(chunk: str) -> Iterator[str]:
    if chunk.isalpha() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
        yield stem(_folded(chunk))
        return
    chunk = chunk.replace("'", "").replace("’", "")
    if numbers := _NUMBERS.match(chunk):
        yield from _version(numbers[1])
        return
    segments = [segment for segment in re.split(r"[/\\]", chunk) if segment]
    for start in range(max(len(segments) - _PIECES, 0), len(segments) - 1):
        yield _whole("".join(segments[start:]))  # a path is called by its end
    for segment in segments:
        if numbers := _NUMBERS.match(segment):
            yield from _version(numbers[1])
            continue
        parts = [part for part in _JOINED.split(segment) if part]
        if len(parts) > 1 or segment[-1] in "+#":
            yield _whole(segment)
        for part in parts:
            yield from _identifier(part)


def _identifier(part: str) -> Iterator[str]:
    """Yield a name as a whole, written in whatever case, and the words in it."""
    yield _whole(part)
    inner = _INNER.findall(part)
    if 1 < len(inner) <= _PIECES:
        yield from (stem(_folded(each)) for each in inner if len(each) > 1)


def _version(numbers: str) -> Iterator[str]:
    """Yield a version and what it begins with: 2.45.0 is also a 2.45."""
    parts = numbers.split(".")
    for end in range(2, min(len(parts), _PIECES) + 1):
        yield ".".join(parts[:end])[:LONGEST]


def _whole(name: str) -> str:
    """Write a name without what joins it: max_retries, max-retries and maxRetries are one."""
    kept = "".join(char for char in _folded(name) if char.isalnum() or char in "+#")
    return stem(kept.replace("+", "plus").replace("#", "sharp")[:LONGEST])


def _folded(word: str) -> str:
    plain = word.casefold()[: LONGEST * 4]
    if plain.isascii():
        return plain[:LONGEST]
    # Accents of Latin letters alone: elsewhere a mark makes another letter.
    parted = unicodedata.normalize("NFD", plain)
    kept = unicodedata.normalize("NFC", _MARK.sub("", parted))
    return "".join(char for char in kept if char.isalnum())[:LONGEST]


def stem(word: str) -> str:
    """Take the common endings off an English word; anything else stays as it is.

    What is left has none of them: a term is a term of itself.
    """
    while len(word) > 3 and word.isascii() and word.isalpha():
        shorter = _without_e(_without_suffix(_singular(word)))
        if shorter == word:
            break
        word = shorter
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    for suffix in ("ing", "ed"):
        root = word.removesuffix(suffix)
        if root != word and len(root) > 2 and _VOWEL.search(root):
            doubled = root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root
    if word.endswith(("tion", "sion")) and len(word) > 6:
        return word[:-3]
    return word


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
