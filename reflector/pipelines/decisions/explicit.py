"""Candidates without a model: what a person decided in so many words, found by the rules engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from reflector.agent.languages import LANGUAGES, language_of
from reflector.agent.statements import Statement, find_statements
from reflector.core.decision import Kind, Source
from reflector.pipelines.decisions.admission import normalised
from reflector.pipelines.decisions.concrete import located
from reflector.pipelines.decisions.envelope import Envelope

# What a person likes, and how the agent is to talk, is about no project.
_PERSONAL = re.compile(
    r"(?:i|i'[a-z]+|me|my)\b|(?:please )?(?:(?:always|never|don'?t) )?(?:answer|reply|respond|talk|"
    r"speak|call me|address me|explain|apologi[sz]e|greet)\b|(?:我|俺|私|僕|나는|저는|난|전|내가|제가)|"
    r".{0,12}(?:回答|回复|回覆|答えて|返事|返信|대답|답변|응답)",
    re.IGNORECASE,
)

_BREAKS = re.compile(r"[\s,.!?;:，。！？；：、–—-]+")
_OPENER = 5


class Candidate(TypedDict):
    """A candidate as a model would give it; `admit` judges it all the same."""

    kind: str
    statement: str
    source: str
    evidence: str
    friction: dict[str, bool]
    rejected_alternative: str


def explicit(envelope: Envelope) -> list[Candidate]:
    """Return the decisions that a message states in so many words, with honest flags.

    One is corrective when the person sets right what the assistant had said. What broke again, and
    what the code does not show, no rule can tell.
    """
    return list(_candidates(envelope))


def _candidates(envelope: Envelope) -> Iterator[Candidate]:
    for one in find_statements(envelope.prompt):
        evidence = _evidence(envelope.prompt, one)
        corrective = _sets_right(envelope, one, evidence)
        kind = _kind(one, corrective=corrective)
        if kind is None or any(located(one.text)):
            continue
        yield Candidate(
            kind=kind.value,
            statement=one.text,
            source=Source.EXPLICIT.value,
            evidence=evidence,
            friction={"corrective": corrective, "regression": False, "subtle": False},
            rejected_alternative=one.rejected,
        )


def _kind(one: Statement, *, corrective: bool) -> Kind | None:
    """Return what was decided; None for what is no decision about a project."""
    if one.kind == "fact" or _PERSONAL.match(one.text):
        return None
    if one.kind == "correction" and (corrective or not one.rejected):
        return Kind.CORRECTION
    # An explicit X over Y is an architecture decision; without a Y it is what must always hold.
    return Kind.ARCHITECTURE if one.kind == "decision" or one.rejected else Kind.CONSTRAINT


def _sets_right(envelope: Envelope, one: Statement, evidence: str) -> bool:
    """Tell whether a statement sets right what the assistant had said, rather than adding to it."""
    context = envelope.assistant_context
    if not context:
        return False
    if one.rejected and one.rejected.casefold() in context.casefold():
        return True
    before, found, _ = _line(envelope.prompt, one).partition(evidence)
    words = [word for word in _BREAKS.split(before) if word][-_OPENER:]
    known = LANGUAGES[language_of(before)].opener if found else None
    tails = (" ".join(words[at:]) for at in range(len(words)))
    return known is not None and any(known.search(tail) for tail in tails)


def _line(prompt: str, one: Statement) -> str:
    return prompt.replace("\r\n", "\n").split("\n")[one.line - 1]


def _evidence(prompt: str, one: Statement) -> str:
    """Return the words themselves as far as they stand there like that, else their whole line."""
    there, _ = normalised(prompt)
    for said in (one.text, one.text[:1].lower() + one.text[1:]):
        if normalised(said)[0] in there:
            return said
    return _line(prompt, one).strip()
