"""Explicit statements in what a person typed: text in, statements and reasons for skipping out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reflector.agent.languages import LANGUAGES, language_of
from reflector.agent.own_words import MAX_SENTENCE, Reason, Skip, quotations, sentences, unquoted
from reflector.agent.phrases import Cue, Kind, Phrases

MIN_STATEMENT = 4
MAX_STATEMENT = 300


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
class Reading:
    """What one message gave."""

    statements: tuple[Statement, ...] = ()
    skipped: tuple[Skip, ...] = ()


def find_statements(text: str) -> tuple[Statement, ...]:
    """Return the explicit statements of a message, in order."""
    return read(text).statements


def read(text: str) -> Reading:
    """Return the explicit statements of a message and what was skipped."""
    found: list[Statement] = []
    skipped: list[Skip] = []
    for line, sentence in sentences(text, skipped):
        _take(sentence, line, found, skipped)
    return Reading(tuple(found), tuple(skipped))


def _take(sentence: str, line: int, found: list[Statement], skipped: list[Skip]) -> None:
    """Judge one sentence."""
    if len(sentence) < MIN_STATEMENT:
        return
    if len(sentence) > MAX_SENTENCE:
        skipped.append(Skip("too long", line))
        return
    sentence = " ".join(sentence.replace("’", "'").replace("\0", " ").split())
    masked = unquoted(sentence)
    known = LANGUAGES[language_of(masked)]
    start = _filler(known, masked)
    sentence, masked = sentence[start:], masked[start:]
    if known.dropped.search(masked):
        skipped += [Skip("taken back", one.line) for one in found] or [Skip("taken back", line)]
        found.clear()
        return
    matched = _cue(known, masked)
    if matched is None:
        if any(_cue(known, one.strip("`\"'“”「」『』«»")) for one in quotations(sentence)):
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
        negative=bool(known.negative.search(unquoted(said))),
        line=line,
        chosen=chosen,
        rejected=rejected,
    )


_SCOPE = re.compile(r" (?:in|for|when|on|at|here|please|because|as|since)\b", re.IGNORECASE)


def _contrast(known: Phrases, said: str) -> tuple[str, str]:
    """Return what is to be used and what is not, in "X, not Y" and its like."""
    masked = unquoted(said)
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
