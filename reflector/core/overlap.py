"""How much two statements are about the same thing: plain overlap of their words, no model."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:[+#]+|(?:[._'-][^\W_]+)*)")
_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+")
_PLURAL = 4
_SHARED = 2
_OF_SHORTER = 0.6
_OF_BOTH = 0.34
# Words that are in any statement whatever it is about.
_EMPTY = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "must",
        "never",
        "no",
        "not",
        "of",
        "on",
        "only",
        "or",
        "shall",
        "should",
        "so",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "use",
        "used",
        "uses",
        "using",
        "was",
        "we",
        "were",
        "when",
        "where",
        "which",
        "while",
        "will",
        "with",
        "without",
        "always",
        "instead",
        "rather",
        "every",
        "each",
        "all",
        "any",
    )
)


@lru_cache(maxsize=16_384)
def tokens(text: str) -> frozenset[str]:
    """Return the words of a text in one form; scripts without blanks give pairs of characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    found: set[str] = set()
    for run in _CJK.findall(plain):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    words = _WORD.findall(_CJK.sub(" ", plain))
    found.update(_stem(word) for word in words if word not in _EMPTY)
    return frozenset(found)


def _stem(word: str) -> str:
    """Take a plural's `s` away: no more, or what differs would become equal."""
    plural = len(word) > _PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


def similar(one: str, other: str) -> bool:
    """Tell whether two statements are about the same thing. In doubt they are not."""
    return alike(tokens(one), tokens(other))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell the same of two sets of words: most of the shorter, and a good part of both."""
    same = len(one & other)
    if same < min(_SHARED, len(one), len(other)) or not same:
        return False
    return same >= _OF_SHORTER * min(len(one), len(other)) and same >= _OF_BOTH * len(one | other)


def states(statement: str, what: str) -> bool:
    """Tell whether a statement speaks of something: all of its words are there."""
    wanted = tokens(what)
    return bool(wanted) and wanted <= tokens(statement)
