"""Rule 8: no secrets, no literal `$AGENT_ID`, and dates that still mean something later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import inf

from reflector.core.redact import find_secrets
from reflector.memory.codes import finding
from reflector.memory.edit import Edit, lines
from reflector.memory.finding import Finding
from reflector.memory.prose import without_code
from reflector.memory.tree import Change

_DETAILS = "## Details"
_AGENT_ID = re.compile(r"\$(?:AGENT_ID\b|\{AGENT_ID\})")
# Repeats are bounded: a line of a quarter of a megabyte must not take quadratic time.
_QUOTED = re.compile(
    '"[^"]{0,400}"|“[^”]{0,400}”|„[^“”]{0,400}[“”]|«[^»]{0,400}»|「[^」]{0,400}」|『[^』]{0,400}』'
)
_UNITS = "(?:second|minute|hour|day|night|week|weekend|month|quarter|year)"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RELATIVE = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|just now|right now|recently|lately|earlier today"
    r"|the other day|the day (?:before yesterday|after tomorrow)"
    rf"|(?:last|next|this|this past|this coming) (?:{_UNITS}|{_DAYS}|morning|afternoon|evening)"
    rf"|(?:\d{{1,4}}|an?|one|two|three|four|five|six|a few|several|some) {_UNITS}s? ago)\b"
    "|[今昨明前后後]天|[今昨明][早晚]|[今去明前后後]年|[上下本这這][个個]?(?:周|週|星期|礼拜|禮拜|月)"
    "|[刚剛][才刚剛]|最近|前几天|前幾天|[0-9一二两兩三四五六七八九十几幾数數]{1,4}[个個]?(?:天|日|周|週|星期|月|年)前"
    "|[今昨明]日|一昨日|明後日|今[朝夜晩]|昨[夜晩]|[今先来]週|[今先来]月|[今昨来]年|さっき|先ほど|先日|数日前"
    "|[0-9]{1,4}(?:日|週間|か月|ヶ月|カ月|年)前"
    "|오늘|어제|내일|그저께|그제|모레|(?:이번|지난|다음) ?(?:주|달|해)|올해|작년|내년|방금|최근|며칠 전"
    "|[0-9]{1,4}(?:일|주|개월|달|년) ?전",
    re.IGNORECASE,
)

# One of these is in everything that the pattern finds in English.
_SURE_SIGNS = ("today", "tonight", "yesterday", "tomorrow", "now", "recently", "lately", " ago")
_NEAR = ("the other ", "the day ", "last ", "next ", "this ")
_SPANS = (
    *("second", "minute", "hour", "day", "night", "week", "month", "quarter", "year"),
    *("morning", "afternoon", "evening"),
)


def secrets(edit: Edit) -> Iterator[Finding]:
    """Find secrets in added lines and paths; only kind and line are named."""
    for change in edit.changes:
        if change.after is None:
            continue
        if change.before is None:
            for kind, _ in find_secrets(change.path):
                yield finding("secret_in_path", change.path, kind=kind)
        yield from _added_secrets(edit, change)


def literals(edit: Edit) -> Iterator[Finding]:
    """Find the name of the variable where its value was meant."""
    for change in edit.changes:
        if b"AGENT_ID" not in edit.new(change):
            continue
        for number, line in edit.added(change):
            if _AGENT_ID.search(line):
                yield finding("agent_id_literal", change.path, number)


def relative_dates(edit: Edit) -> Iterator[Finding]:
    """Find words in added prose whose meaning depends on the day they are read."""
    for change in edit.changes:
        if change.after is None or not change.path.endswith(".md"):
            continue
        text = "\n".join(lines(edit.new(change)))
        if not _may_be_relative(text):
            continue
        prose = list(without_code(text))
        quoted = _quoted_from(change.path, prose)
        for number, _ in edit.added(change):
            if number >= quoted:
                continue
            if word := _relative(prose[number - 1]):
                yield finding("relative_date", change.path, number, word=word)


def _quoted_from(path: str, prose: list[str]) -> float:
    """Return the line from which a fact's document keeps words as they were said."""
    details = (n for n, line in enumerate(prose, start=1) if line.rstrip() == _DETAILS)
    return next(details, inf) if path.startswith("facts/") else inf


def message(text: str) -> Iterator[Finding]:
    """Judge the text of a commit message."""
    for kind, number in find_secrets(text):
        yield finding("secret_in_message", line=number, kind=kind)
    for number, line in enumerate(text.split("\n"), start=1):
        if _AGENT_ID.search(line):
            yield finding("agent_id_literal", line=number)


def _added_secrets(edit: Edit, change: Change) -> Iterator[Finding]:
    # Hits are compared, not lines: a value can become a secret through a new line beside it.
    known = Counter((kind, line) for kind, _, line in _hits(edit.old(change)))
    for kind, number, line in _hits(edit.new(change)):
        if known[kind, line]:
            known[kind, line] -= 1
        else:
            yield finding("secret", change.path, number, kind=kind)


def _hits(raw: bytes) -> Iterator[tuple[str, int, str]]:
    text = lines(raw)
    for kind, number in find_secrets("\n".join(text)):
        yield kind, number, text[number - 1]


def _may_be_relative(text: str) -> bool:
    """Say no where it is cheap to be sure: the pattern is slow, and most documents have no hit."""
    if not text.isascii():
        return True
    low = text.lower()
    if any(word in low for word in _SURE_SIGNS):
        return True
    return any(word in low for word in _NEAR) and any(word in low for word in _SPANS)


def _relative(line: str) -> str:
    if line.lstrip().startswith((">", "#")):
        return ""
    match = _RELATIVE.search(_QUOTED.sub("", line))
    return match.group() if match else ""
