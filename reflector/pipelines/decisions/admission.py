"""Which candidates of a model become deltas: each is judged alone, against the person's words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from reflector.core.decision import Delta, Friction, Kind, Source
from reflector.core.redact import redact_record
from reflector.core.visible import visible
from reflector.pipelines.decisions.envelope import meaningful
from reflector.pipelines.decisions.pasted import Span, pasted

Reason = Literal[
    "not_an_object",
    "statement",
    "evidence_missing",
    "evidence_too_short",
    "evidence_not_found",
    "evidence_pasted",
    "kind",
    "source",
    "friction",
]
"""Why a candidate is refused, in the order in which it is looked at."""

_FLAGS = ("corrective", "regression", "subtle")
_QUOTES = str.maketrans("‘’‚‛′“”„‟″", "'''''\"\"\"\"\"")
_LONGEST_CLUSTER = 4


@dataclass(frozen=True, slots=True)
class Rejected:
    """A candidate that was refused: its place in the reply, from 0, and why."""

    index: int
    reason: Reason

    def as_json(self) -> dict[str, object]:
        """Return the public form."""
        return {"index": self.index, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Admitted:
    """What one reply gave."""

    deltas: tuple[Delta, ...] = ()
    rejected: tuple[Rejected, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return how many candidates each reason refused."""
        return dict(Counter(one.reason for one in self.rejected))


def admit(prompt: str, candidates: Sequence[object]) -> Admitted:
    """Judge a model's candidates against the text that it was shown as the person's words.

    The same statement twice is one delta, with the friction of both. Secrets are taken out of what
    is kept; offsets are those of `prompt` as it was given.
    """
    words = _Words(prompt)
    deltas: dict[str, Delta] = {}
    rejected: list[Rejected] = []
    for index, candidate in enumerate(candidates):
        found = _judged(words, candidate)
        if isinstance(found, Delta):
            said = _said(found.statement)
            deltas[said] = _joined(deltas[said], found) if said in deltas else found
        else:
            rejected.append(Rejected(index, found))
    return Admitted(tuple(deltas.values()), tuple(rejected))


def _joined(first: Delta, again: Delta) -> Delta:
    one, other = first.friction, again.friction
    flags = (getattr(one, name) or getattr(other, name) for name in _FLAGS)
    return replace(first, friction=Friction(*flags))


def _said(statement: str) -> str:
    return " ".join(statement.casefold().split()).rstrip(".。")


def _judged(words: _Words, candidate: object) -> Delta | Reason:
    if not isinstance(candidate, Mapping):
        return "not_an_object"
    statement = candidate.get("statement")
    if not isinstance(statement, str) or not visible(statement):
        return "statement"
    place = words.place(candidate.get("evidence"))
    if not isinstance(place, tuple):
        return place
    what = _what(candidate)
    if not isinstance(what, tuple):
        return what
    told = (statement, _text(candidate, "rejected_alternative"), _text(candidate, "rationale"))
    return _delta(words, place, what, told)


def _what(candidate: Mapping[object, object]) -> tuple[Kind, Source, Friction] | Reason:
    kind = next((each for each in Kind if each == candidate.get("kind")), None)
    if kind is None:
        return "kind"
    source = next((each for each in Source if each == candidate.get("source")), None)
    if source is None:
        return "source"
    flags = candidate.get("friction")
    if not isinstance(flags, Mapping) or any(type(flags.get(name)) is not bool for name in _FLAGS):
        return "friction"
    return kind, source, Friction(*(flags[name] for name in _FLAGS))


def _text(candidate: Mapping[object, object], name: str) -> str:
    value = candidate.get(name)
    return value if isinstance(value, str) else ""


def _delta(
    words: _Words,
    place: Span,
    what: tuple[Kind, Source, Friction],
    told: tuple[str, str, str],
) -> Delta:
    start, end = place
    # One record: a value that stands under a key in the prompt is a secret wherever it is repeated.
    texts, _ = redact_record((words.prompt, words.prompt[start:end], *map(visible, told)))
    _, evidence, statement, rejected, rationale = texts
    kind, source, friction = what
    return Delta(kind, statement, source, evidence, start, end, friction, rejected, rationale)


class _Words:
    """A prompt in which evidence is looked for, first as it is, then normalised."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    @cached_property
    def _pasted(self) -> list[Span]:
        return pasted(self.prompt)

    @cached_property
    def _normal(self) -> tuple[str, list[Span]]:
        return normalised(self.prompt)

    def place(self, evidence: object) -> Span | Reason:
        """Return where evidence stands among what was typed, or why it does not count."""
        if not isinstance(evidence, str):
            return "evidence_missing"
        if not meaningful(evidence):
            return "evidence_too_short"
        reason: Reason = "evidence_not_found"
        for start, end in self._places(evidence):
            if self._typed(start, end):
                return start, end
            reason = "evidence_pasted"
        return reason

    def _places(self, evidence: str) -> Iterator[Span]:
        yield from _found(self.prompt, evidence)
        text, origin = self._normal
        wanted, _ = normalised(evidence)
        for start, end in _found(text, wanted):
            yield origin[start][0], origin[end - 1][1]

    def _typed(self, start: int, end: int) -> bool:
        """Tell whether enough of a place was typed: what touches a paste by a sign was not."""
        left: list[str] = []
        for begin, stop in self._pasted:
            if start < stop and begin < end:
                left.append(self.prompt[start : max(start, begin)])
                start = max(start, min(stop, end))
        return meaningful("".join((*left, self.prompt[start:end])))


def _found(text: str, wanted: str) -> Iterator[Span]:
    at = text.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = text.find(wanted, at + max(1, len(wanted)))


def normalised(text: str) -> tuple[str, list[Span]]:
    """Return a text in one form of its characters, and for each of them where it comes from.

    NFC, straight quotes, and every run of blanks and line ends as one space. Case stays.
    """
    made: list[str] = []
    origin: list[Span] = []
    for start, end in _clusters(text):
        piece = text[start:end]
        if piece.isspace():
            piece = " "
        elif not piece.isascii():
            piece = unicodedata.normalize("NFC", piece).translate(_QUOTES)
        made.append(piece)
        origin += [(start, end)] * len(piece)
    return "".join(made), origin


def _clusters(text: str) -> Iterator[Span]:
    """Yield runs of blanks, and characters with what composes with them."""
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and _goes_on(text, start, at):
            continue
        yield start, at
        start = at


def _goes_on(text: str, start: int, at: int) -> bool:
    sign = text[at]
    if sign.isspace():
        return text[at - 1].isspace()
    if sign < "\u0300" or text[at - 1].isspace():
        return False
    if unicodedata.combining(sign):
        return True
    before = text[start:at]
    # Parts of Hangul compose without being combining characters.
    return len(before) < _LONGEST_CLUSTER and (
        unicodedata.normalize("NFC", before + sign) != unicodedata.normalize("NFC", before) + sign
    )
