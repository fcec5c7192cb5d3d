"""Explicit statements in what a person typed: text in, statements and reasons for skipping out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from reflector.agent import phrases
from reflector.agent.phrases import Cue, Kind, Language, Phrases
from reflector.agent.phrases_cjk import CHINESE, JAPANESE, KOREAN
from reflector.agent.phrases_english import ENGLISH

LANGUAGES: Mapping[Language, Phrases] = {
    "en": ENGLISH,
    "zh": CHINESE,
    "ja": JAPANESE,
    "ko": KOREAN,
}

MIN_STATEMENT = 4
MAX_STATEMENT = 300
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
class Statement:
    """Something a person said in so many words.

    `text` is the sentence without what only introduces it, one line of at most 300 characters.
    `subject` are the words that say what it is about, `negative` tells a prohibition. `chosen`
    and `rejected` are the two sides of "use X, not Y", else "". `line` is 1-based.
    """

    kind: Kind
    text: str
    subject: frozenset[str]
    negative: bool
    line: int
    chosen: str = ""
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that looked like a statement, or could hide one, and why it was not taken."""

    reason: Reason
    line: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What one message gave."""

    statements: tuple[Statement, ...] = ()
    skipped: tuple[Skip, ...] = ()


def find_statements(text: str) -> tuple[Statement, ...]:
    """Return the explicit statements of a message, in order."""
    return read(text).statements


def read(text: str) -> Reading:
    """Return the explicit statements of a message and what was skipped."""
    text, offset = _request(text)
    if phrases.HARNESS.match(text):
        return Reading(skipped=(Skip("harness message", 1),))
    if _pasted(text):
        return Reading(skipped=(Skip("pasted text", 1),))
    found: list[Statement] = []
    skipped: list[Skip] = []
    for number, line in _own_lines(text, skipped):
        for sentence in _sentences(line):
            _take(sentence, number + offset, found, skipped)
    return Reading(tuple(found), tuple(skipped))


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
    masked = _masked(line)
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


def _quotations(text: str) -> list[str]:
    return [match.group() for match in phrases.QUOTED.finditer(text)]


def _masked(text: str) -> str:
    return phrases.QUOTED.sub(lambda match: "\0" * len(match.group()), text)


_KANA = re.compile("[ぁ-ゖァ-ヺー]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[一-鿿㐀-䶿]")


def language_of(text: str) -> Language:
    """Tell the language by its script: kana, Hangul and Han are enough, the rest is English."""
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh" if _HAN.search(text) else "en"


def _take(sentence: str, line: int, found: list[Statement], skipped: list[Skip]) -> None:
    """Judge one sentence."""
    if len(sentence) < MIN_STATEMENT:
        return
    if len(sentence) > MAX_SENTENCE:
        skipped.append(Skip("too long", line))
        return
    sentence = " ".join(sentence.replace("’", "'").replace("\0", " ").split())
    masked = _masked(sentence)
    known = LANGUAGES[language_of(masked)]
    start = _filler(known, masked)
    sentence, masked = sentence[start:], masked[start:]
    if known.dropped.search(masked):
        skipped += [Skip("taken back", one.line) for one in found] or [Skip("taken back", line)]
        found.clear()
        return
    matched = _cue(known, masked)
    if matched is None:
        if any(_cue(known, one.strip("`\"'“”「」『』«»")) for one in _quotations(sentence)):
            skipped.append(Skip("quotation", line))
        return
    cue, match = matched
    said = masked[match.start("say") :] if match.groupdict().get("say") else masked
    reason = _refused(known, cue, masked) or _unfit(sentence, said)
    if reason:
        skipped.append(Skip(reason, line))
        return
    statement = _statement(known, cue, match, sentence, line)
    if len(statement.text) >= MIN_STATEMENT:
        found.append(statement)


def _filler(known: Phrases, masked: str) -> int:
    match = known.filler.match(masked)
    return match.end() if match else 0


def _cue(known: Phrases, masked: str) -> tuple[Cue, re.Match[str]] | None:
    for cue in known.cues:
        for pattern in cue.patterns:
            match = pattern.search(masked)
            if match:
                return cue, match
    return None


def _refused(known: Phrases, cue: Cue, masked: str) -> Reason | None:
    if known.question.search(masked):
        return "question"
    if known.reported.search(masked):
        return "said by somebody else"
    if known.hedge.search(masked):
        return "hypothetical"
    if known.one_off.search(masked):
        return "one-off task"
    if not cue.standing and known.task.search(masked):
        return "one-off task"
    return None


_POINTING = re.compile(r"(?:this|that|it|these|those|they)\s", re.IGNORECASE)


def _unfit(sentence: str, said: str) -> Reason | None:
    """Refuse what would mean nothing, or too much, outside the conversation."""
    if "[REDACTED:" in sentence:
        return "redacted text"
    return "one-off task" if _POINTING.match(said) else None


def _statement(
    known: Phrases, cue: Cue, match: re.Match[str], sentence: str, line: int
) -> Statement:
    start, end = match.span("say") if match.groupdict().get("say") else (0, len(sentence))
    said = sentence[start:end]
    chosen, rejected = _contrast(known, said)
    return Statement(
        kind=cue.kind,
        text=_clean(said),
        subject=words(said) - known.noise,
        negative=bool(known.negative.search(_masked(said))),
        line=line,
        chosen=chosen,
        rejected=rejected,
    )


_SCOPE = re.compile(r" (?:in|for|when|on|at|here|please|because|as|since)\b", re.IGNORECASE)


def _contrast(known: Phrases, said: str) -> tuple[str, str]:
    """Return what is to be used and what is not, in "X, not Y" and its like."""
    masked = _masked(said)
    for pattern in known.contrast:
        match = pattern.search(masked)
        if match:
            sides = (said[slice(*match.span(name))] for name in ("new", "old"))
            new, old = (_SCOPE.split(side, maxsplit=1)[0].strip(" `\"'.,!。") for side in sides)
            return new, old
    return "", ""


_MARKS = (
    ("[[", "[ ["),
    ("]]", "] ]"),
    ("](", "] ("),
    ("<!--", "< !--"),
    ("-->", "-- >"),
    ("```", "` ` `"),
    ("$AGENT_ID", "AGENT_ID"),
    ("[entry ", "[ entry "),
)
"""What means something in a document or a commit message, and how it is written instead."""
_LEADING = re.compile(r"^(?:[#>*+=_~•・,;:，、：-]+\s+|#+|>+|\s+)*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")


def _clean(said: str) -> str:
    """Make a sentence fit for a line of a document: it can open nothing there."""
    said = _CONTROL.sub(" ", said)
    for mark, harmless in _MARKS:
        said = said.replace(mark, harmless)
    said = _LEADING.sub("", " ".join(said.split()), count=1).rstrip(" .。!！,，、;")
    if len(said) > MAX_STATEMENT:
        said = said[: MAX_STATEMENT - 1].rsplit(" ", 1)[0] + "…"
    # Elsewhere a sentence often begins with a name (`main`), which must stay as it is.
    return said[:1].upper() + said[1:] if language_of(said) == "en" else said


_WORD = re.compile(r"[a-z0-9_\x00][a-z0-9_.+#/@'-]*|[ぁ-ゖァ-ヺー一-鿿㐀-䶿가-힣]+", re.IGNORECASE)


@lru_cache(maxsize=2048)
def words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case; scripts without spaces give pairs of characters."""
    found: set[str] = set()
    for match in _WORD.finditer(text.lower()):
        word = match.group().strip(".'-/")
        if word[:1].isascii():
            found.add(word)
        elif word:
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    return frozenset(found - {""})
