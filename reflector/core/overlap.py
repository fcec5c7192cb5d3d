"""How much two statements are about the same thing: plain overlap of their words, no model."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:[+#]+|(?:[._'-][^\W_]+)*)")
_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+")
_CJK_EMPTY = re.compile(
    "必须|必需|应该|应当|始终|总是|永远|一律|一直|不要|不能|不得|使用|采用|我们|以后|今后|需要|的|了"
    "|必須|應該|始終|總是|永遠|我們|以後|必ず|常に|決して|使う|使って|ください|します|する"
    "|항상|반드시|절대로?|언제나|앞으로|사용|합니다|해야|한다"
)
_NOT = re.compile(
    r"\b(?:no|not|never|none|nor|without|avoid|cannot)\b|n['’]t\b|[不勿别別沒没無无禁]|ない|ません|禁止"
    r"|금지|않|말(?:고|아|것)|지 ?마",
    re.IGNORECASE,
)
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
    for run in _CJK.findall(_CJK_EMPTY.sub(" ", plain)):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    words = _WORD.findall(_CJK.sub(" ", plain))
    found.update(_stem(word) for word in words if word not in _EMPTY)
    return frozenset(found)


def _stem(word: str) -> str:
    """Take a plural's `s` away: no more, or what differs would become equal."""
    plural = len(word) > _PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell by their `tokens` whether two statements are about the same thing.

    They share most of the shorter, and a good part of both; in doubt they are not.
    """
    return _enough(len(one & other), len(one), len(other))


def _enough(same: int, one: int, other: int) -> bool:
    least = min(one, other)
    return (
        same >= max(1, min(_SHARED, least))
        and same >= _OF_SHORTER * least
        and same >= _OF_BOTH * (one + other - same)
    )


class Overlaps:
    """Texts by number, of which those like another are found without comparing each pair."""

    def __init__(self, texts: Iterable[tuple[int, frozenset[str]]]) -> None:
        """Take the texts' words."""
        self._sizes: dict[int, int] = {}
        self._with: defaultdict[str, list[int]] = defaultdict(list)
        for at, words in texts:
            self._sizes[at] = len(words)
            for word in words:
                self._with[word].append(at)

    def like(self, words: frozenset[str]) -> set[int]:
        """Return the numbers of the texts that are about the same thing."""
        shared: Counter[int] = Counter()
        for word in words:
            shared.update(self._with.get(word, ()))
        sizes, mine = self._sizes, len(words)
        least = {size: _least(mine, size) for size in {sizes[at] for at in shared}}
        return {at for at, same in shared.items() if same >= least[sizes[at]]}


@lru_cache(maxsize=4096)
def _least(one: int, other: int) -> int:
    """Return how many words two texts of these sizes must share to be about the same thing."""
    most = min(one, other)
    return next((same for same in range(most + 1) if _enough(same, one, other)), most + 1)


def states(statement: str, what: str) -> bool:
    """Tell whether a statement speaks of something: most of its words are there."""
    wanted = tokens(what)
    same = len(wanted & tokens(statement))
    return same >= max(1, _OF_SHORTER * len(wanted))


def negative(text: str) -> bool:
    """Tell whether a statement says what must not be; `tokens` are the same either way."""
    return _NOT.search(text) is not None
