"""What a text claims that can be looked up: paths, branches, commands and numbers in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

What = Literal["path", "branch", "command", "number"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a text names, from `start` to `end`, in code points."""

    what: What
    text: str
    start: int
    end: int


_FENCED: Final = re.compile(
    r"^[ \t]*```[^\n]*\n(?P<code>.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_CODE: Final = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?P<code>[^`\n]{1,400})(?P=ticks)(?!`)")
_COMMAND_LINE: Final = re.compile(
    r"^[ \t]*(?:\$[ \t]+)?(?P<code>[^\s#][^\n]*?)(?=[ \t]*$|[ \t]+#)", re.MULTILINE
)
_PART: Final = r"[\w.@+~%-]"
_PATH: Final = re.compile(
    rf"(?<![\w/\\.@:+~%-])(?:"
    rf"(?:[A-Za-z]:|~|\.{{1,2}})?[/\\](?:{_PART}+[/\\])*{_PART}*[\w~]"  # from a root
    rf"|(?:{_PART}+[/\\]){{2,}}{_PART}*\w"  # two folders deep
    rf"|(?:{_PART}+[/\\])*[\w@+-][\w@+-]*(?:\.[\w@+-]+)*\.[A-Za-z][A-Za-z0-9]{{0,7}}(?![\w(])"
    rf")",
    re.ASCII,
)
# What stands beside "branch" is the name of one only if it looks like it: "on branch x-1".
_NAME: Final = (
    r"(?=[\w./#+-]*[/_\d-]|(?:main|master|develop|trunk|staging)(?![\w-]))"
    r"[A-Za-z0-9](?:[\w./#+-]*\w)?(?![\w/#+-])"
)
_BRANCH: Final = re.compile(
    rf"\bbranch\s+(?:named\s+|called\s+)?(?P<after>{_NAME})"
    rf"|(?<![\w./#+-])(?P<before>{_NAME})\s+branch\b"
    rf"|分支\s*(?:名为|名|是|为|：|:)?\s*(?P<zh>{_NAME})"
    rf"|(?<![\w./#+-])(?P<before_zh>{_NAME})\s*(?:这个|的)?分支",
    re.ASCII | re.IGNORECASE,
)
_FLAG: Final = re.compile(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z]\b)", re.ASCII)
_DIGITS: Final = r"\d+(?:[.,:_]\d+)*(?:[eE][+-]?\d{1,4}(?![\w]))?"
# A name that ends in digits goes on after a point or a colon: `T00:20:16`.
_NUMBER: Final = re.compile(
    rf"(?<![A-Za-z_\d])(?<!\w\.)[vV]?(?P<number>{_DIGITS})"
    rf"|(?<![A-Za-z_])[A-Za-z_]\w{{0,40}}?\d(?:[.,:]\d+)+",
    re.ASCII,
)
HASH: Final = re.compile(r"(?<!\w)(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40}(?!\w)", re.ASCII)
"""A commit or another digest: it may be shortened."""
_ANYWHERE: Final = re.compile(rf"{_DIGITS}|\d+", re.ASCII)
_LISTED: Final = re.compile(r"^[ \t]*\d{1,2}[.)](?=[ \t])", re.MULTILINE)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_DIGITS: Final = 60


def claims(text: str) -> list[Claim]:
    """Return everything that a text names, in order. What stands as code is one command a line."""
    found: list[Claim] = []
    rest = _LISTED.sub(lambda match: "\0" * len(match[0]), text)
    readings: tuple[tuple[Callable[[str], Iterator[Span]], What], ...] = (
        (_fenced, "command"),
        (_spans_of_code, "command"),
        (_branches, "branch"),
        (_paths, "path"),
        (_flags, "command"),
        (_hashes, "command"),
        (_numbers, "number"),
    )
    for spans, what in readings:
        taken = list(spans(rest))
        found += (Claim(_kind(what, rest[a:b]), text[a:b], a, b) for a, b in taken)
        rest = _masked(rest, taken)
    return sorted(found, key=lambda one: one.start)


def value(number: str) -> Decimal | None:
    """Return what a number is worth, however it is written; None for a version, a time, a date."""
    if len(number) > _MOST_DIGITS:
        return None
    if _GROUPED.fullmatch(number):
        number = number.replace(",", "").replace("_", "")
    return Decimal(number) if _PLAIN.fullmatch(number) else None


def numbers_in(text: str) -> set[str]:
    """Return every number of a text as it is written, and the runs of digits that it is made of."""
    found = set(_ANYWHERE.findall(text))
    return found | {run for each in found for run in re.findall(r"\d+(?:\.\d+)?|\d+", each)}


def _kind(what: What, text: str) -> What:
    """Return what a claim is; a path or a number that stands as code is one all the same."""
    if what != "command":
        return what
    if _PATH.fullmatch(text):
        return "path"
    number = _NUMBER.fullmatch(text)
    return "number" if number and number["number"] else what


def _masked(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        parts += (text[at:start], "\0" * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def _fenced(text: str) -> Iterator[Span]:
    for block in _FENCED.finditer(text):
        for line in _COMMAND_LINE.finditer(text, *block.span("code")):
            yield line.span("code")


def _spans_of_code(text: str) -> Iterator[Span]:
    return (match.span("code") for match in _CODE.finditer(text) if match["code"].strip())


def _branches(text: str) -> Iterator[Span]:
    return (match.span(match.lastgroup or 0) for match in _BRANCH.finditer(text))


def _paths(text: str) -> Iterator[Span]:
    for match in _PATH.finditer(text):
        if "/" in match[0] or "\\" in match[0] or (match[0].count(".") == 1 and len(match[0]) > 4):
            yield match.span()


def _flags(text: str) -> Iterator[Span]:
    return (match.span() for match in _FLAG.finditer(text))


def _numbers(text: str) -> Iterator[Span]:
    return (match.span("number") for match in _NUMBER.finditer(text) if match["number"])


def _hashes(text: str) -> Iterator[Span]:
    return (match.span() for match in HASH.finditer(text))
