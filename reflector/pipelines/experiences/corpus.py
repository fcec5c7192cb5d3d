"""What the rows of a segment hold, so that it can be looked up whether something stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from reflector.pipelines.experiences.claims import HASH, Claim, numbers_in, value
from reflector.pipelines.experiences.rows import Row, contents

_ROOTED = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?/")
_PLACEHOLDER = re.compile(r"<[^<>\n]*>|\$?\{[^{}\n]*\}|\.\.\.|…")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+", re.ASCII)
_AT_LINE = re.compile(r"(?P<path>[^:]*[/.][^:]*):(?P<lines>\d+(?:[-:,]\d+)*)", re.ASCII)
_RUN = re.compile(r"\d+")
_QUOTES = "'\"`“”‘’,;"
_ENDING = 4
_SHORT = 7
_WORD = frozenset("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BRANCH = _WORD | {"-", "/"}
"""Signs that go on with a name; a branch is another one with any of its own after it."""


class Corpus:
    """The texts of some rows, without regard to blanks and to which slash a path is written with."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        self._rows = [_plain("\n".join(contents(one))) for one in rows]
        self._all = "\n".join(self._rows)
        self._looked_up: dict[tuple[str, str, bool], bool] = {}

    def holds(self, claim: Claim, *, anywhere: bool = False) -> bool:
        """Tell whether what is claimed stands there; a command may be one of several words.

        The words of a command stand in one row, or, with `anywhere`, in any rows.
        """
        key = (claim.what, claim.text, anywhere)
        if key not in self._looked_up:
            self._looked_up[key] = self._holds(claim, anywhere=anywhere)
        return self._looked_up[key]

    def _holds(self, claim: Claim, *, anywhere: bool) -> bool:
        match claim.what:
            case "number":
                return self.has_number(claim.text)
            case "path":
                return self.has_path(claim.text)
            case "branch":
                return _stands(self._all, claim.text, _BRANCH)
            case "command":
                return self._has_command(claim.text, anywhere=anywhere)

    def has_number(self, number: str) -> bool:
        """Tell whether a number stands there, by its value, or as it is written."""
        worth = value(number)
        return number in self._numbers if worth is None else worth in self._values

    def has_path(self, path: str) -> bool:
        """Tell whether a path stands there; an absolute one may stand there as folder and rest."""
        path = _plain(path).removeprefix("./").rstrip("/") or "/"
        if self._has(path):
            return True
        root = _ROOTED.match(path)
        places = [at for at, sign in enumerate(path) if sign == "/"] if root else []
        heads = (at for at in places if at and at + 1 < len(path))
        return any(
            self._has(path[at + 1 :]) and (path[:at] == "~" or self._has(path[:at])) for at in heads
        )

    @cached_property
    def _numbers(self) -> set[str]:
        return numbers_in(self._all)

    @cached_property
    def _values(self) -> set[Decimal]:
        return {worth for each in self._numbers if (worth := value(each)) is not None}

    def _has(self, text: str) -> bool:
        return _stands(self._all, text)

    def _has_command(self, command: str, *, anywhere: bool) -> bool:
        if self._has(_plain(command)):
            return True
        if HASH.fullmatch(command):
            return command in self._all or any(self._has(each) for each in _shorter(command))
        plain = _plain(_PLACEHOLDER.sub(" ", command))
        words = [word for word in map(_bare, plain.split()) if any(map(str.isalnum, word))]
        # Most of what is not there stands in no row at all.
        if not all(self._word_in(self._all, word) for word in words):
            return False
        return anywhere or any(
            all(self._word_in(row, word) for word in words) for row in self._rows
        )

    def _word_in(self, place: str, word: str) -> bool:
        if _stands(place, word):
            return True
        if (worth := value(word)) is not None:
            return worth in self._values
        if at := _AT_LINE.fullmatch(word):
            lines = _RUN.findall(at["lines"])
            return _stands(place, at["path"]) and all(map(self.has_number, lines))
        parts = re.split(r"\.|::|#", word) if _SYMBOL.fullmatch(word) else []
        # A method is named with its class; a file's ending is no method.
        return (
            len(parts) > 1
            and len(parts[-1]) > _ENDING
            and all(_stands(place, part) for part in parts)
        )


def _shorter(digest: str) -> Iterator[str]:
    return (digest[:length] for length in range(_SHORT, len(digest)))


def _bare(word: str) -> str:
    bare = word.strip(_QUOTES).removesuffix("()")
    return bare.rstrip("/") or bare


def _plain(text: str) -> str:
    return " ".join(text.replace("\\\\", "/").replace("\\", "/").split())


def _stands(place: str, text: str, signs: frozenset[str] = _WORD) -> bool:
    """Tell whether a text stands somewhere as a whole, not as a part of a longer name of signs."""
    at = place.find(text) if text else -1
    while at >= 0:
        end = at + len(text)
        before, after = place[at - 1 : at], place[end : end + 1]
        if not ((before in signs and text[0] in signs) or (after in signs and text[-1] in signs)):
            return True
        at = place.find(text, at + 1)
    return False
