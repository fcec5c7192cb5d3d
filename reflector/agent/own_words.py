"""Which sentences of a message a person typed themselves, and why the rest is passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from reflector.agent import phrases
from reflector.agent.languages import LANGUAGES, language_of

MAX_SENTENCE = 400
PASTED = 2000
CERTAINLY_PASTED = 20_000
DUMP = 4

Reason = Literal[
    "harness message",
    "pasted text",
    "code block",
    "block quotation",
    "log or trace",
    "list",
    "quotation",
    "question",
    "hypothetical",
    "taken back",
    "said by somebody else",
    "one-off task",
    "too long",
    "redacted text",
]


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that looked like a statement, or could hide one, and why it was not taken."""

    reason: Reason
    line: int


def sentences(text: str, skipped: list[Skip]) -> Iterator[tuple[int, str]]:
    """Yield each sentence with the number of its line, from 1; add what is passed over to `skipped`."""
    text, offset = _request(text)
    if phrases.HARNESS.match(text):
        skipped.append(Skip("harness message", 1))
        return
    if _pasted(text):
        skipped.append(Skip("pasted text", 1))
        return
    for number, line in _own_lines(text, skipped):
        for sentence in _sentences(line):
            yield number + offset, sentence


def _request(text: str) -> tuple[str, int]:
    """Leave out what an editor put before the person's words; return how many lines that was."""
    if not phrases.EDITOR_CONTEXT.match(text):
        return text, 0
    before, _, after = text.partition(phrases.EDITOR_REQUEST)
    return after, before.count("\n")


def _pasted(text: str) -> bool:
    if len(text) > CERTAINLY_PASTED or phrases.PLAN.match(text):
        return True
    lines = text.split("\n")
    headings = sum(1 for line in lines if phrases.HEADING.match(line))
    if headings >= 2:
        return True
    return len(text) > PASTED and (len(lines) > 20 or max(map(len, lines)) > PASTED)


def _own_lines(text: str, skipped: list[Skip]) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines that a person may have typed themselves."""
    lines = text.replace("\r\n", "\n").split("\n")
    listed = _dumped(lines)
    fence = ""
    for number, line in enumerate(_unwrapped(lines), 1):
        mark = line.lstrip()[:3]
        if fence or mark in ("```", "~~~"):
            if not fence:
                skipped.append(Skip("code block", number))
            fence = _fence(line, fence)
        elif mark.startswith((">", "＞")):
            skipped.append(Skip("block quotation", number))
        elif number in listed:
            skipped.append(Skip("list", number))
        elif phrases.LOG_LINE.match(line):
            skipped.append(Skip("log or trace", number))
        elif line.strip() and not phrases.HEADING.match(line) and not line.startswith(("|", "<")):
            yield number, phrases.LIST_ITEM.sub("", line, count=1)


def _fence(line: str, fence: str) -> str:
    """Return the fence that is open after this line."""
    mark = line.strip()
    if fence:
        return "" if mark.startswith(fence) and not mark.strip(fence[0]) else fence
    # A fence that opens and closes on one line leaves nothing open.
    return "" if mark.endswith(mark[:3]) and len(mark) > 6 else mark[:3]


def _dumped(lines: list[str]) -> set[int]:
    """Return the numbers of lines in lists so long that nobody types them as a remark."""
    dumped: set[int] = set()
    run: list[int] = []
    for number, line in enumerate([*lines, ""], 1):
        if phrases.LIST_ITEM.match(line):
            run.append(number)
            continue
        if len(run) >= DUMP:
            dumped.update(run)
        run = []
    return dumped


def _unwrapped(lines: list[str]) -> list[str]:
    """Join sentences that a terminal wrapped; the lines that were drawn up become empty."""
    joined = list(lines)
    head = 0
    for index in range(1, len(joined)):
        before, line = lines[index - 1], lines[index]
        wrapped = (
            len(before) >= 60 and before[-1:] not in ".!?:。！？`" and line.strip()[:1].islower()
        )
        if wrapped and len(joined[head]) < MAX_SENTENCE:
            joined[head] = f"{joined[head].rstrip()} {line.strip()}"
            joined[index] = ""
        else:
            head = index
    return joined


_ENDS = re.compile(r"[.!?](?=\s)[.!?\s]*|[。！？!?]+\s*(?=\S)")


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; one that is only an opener or a tail joins its neighbour."""
    masked = unquoted(line)
    edges = [0, *(match.end() for match in _ENDS.finditer(masked)), len(line)]
    pieces = [line[start:end] for start, end in pairwise(edges) if start < end]
    waiting = ""
    for index, piece in enumerate(pieces):
        sentence = waiting + piece
        waiting = ""
        if index + 1 < len(pieces):
            following = pieces[index + 1]
            if _is_opener(piece) or _is_tail(following):
                waiting = sentence
                continue
        yield sentence.strip()


def _is_opener(piece: str) -> bool:
    words = piece.strip()
    return len(words) <= 40 and bool(LANGUAGES[language_of(words)].opener.search(words))


def _is_tail(piece: str) -> bool:
    words = piece.strip()
    return len(words) <= 60 and bool(LANGUAGES[language_of(words)].tail.search(words))


def quotations(text: str) -> list[str]:
    """Return what stands in quotation marks or as code, the marks with it."""
    return [match.group() for match in phrases.QUOTED.finditer(text)]


def unquoted(text: str) -> str:
    """Return the text with a NUL for each character of its quotations: they assert nothing."""
    return phrases.QUOTED.sub(lambda match: "\0" * len(match.group()), text)
