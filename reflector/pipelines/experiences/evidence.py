"""Whether a segment bears out what was extracted of it: what it does not is taken out or marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reflector.core.entry import Kind
from reflector.core.experience import EpisodicFact, Experience, Extraction
from reflector.pipelines.experiences.claims import Claim, What, claims
from reflector.pipelines.experiences.corpus import Corpus
from reflector.pipelines.experiences.rows import Row, ids

_ASIDE = re.compile(r"(?<![ \t])[ \t]*(?:\([^()\n]*\)|（[^（）\n]*）)")
_VALUE = re.compile(r"[:=：＝]|^[ \t]*[-*•|]")
_PIECE = re.compile(r"[^\n;；]*[;；]?[ \t]*")
_CITED = re.compile(r"[\[\]\s`'\"]+|^\[?entry[ :]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that an item claims and the segment does not hold: taken out, or left and marked.

    `index` counts experiences; None is the fact. `field` is the one it stood in.
    """

    index: int | None
    field: str
    what: What | Literal["entry"]
    removed: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """An extraction as the segment bears it out. `verified` goes with `experiences`."""

    experiences: tuple[Experience, ...] = ()
    verified: tuple[bool, ...] = ()
    fact: EpisodicFact | None = None
    fact_verified: bool = False
    missing: tuple[Missing, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return how often what was missing where: `removed.fact.path`, `unverified.fact.number`."""
        return dict(
            Counter(
                f"{'removed' if one.removed else 'unverified'}."
                f"{'fact' if one.index is None else 'experience'}.{one.what}"
                for one in self.missing
            )
        )


def checked(extraction: Extraction, rows: Sequence[Row], before: Sequence[Row] = ()) -> Checked:
    """Check every item against the rows of its segment, and what was said before it.

    Of a fact every path, branch, command and number must stand there; of an experience, which is
    about the next time, every path and command of its solution, and what it depends on.
    """
    # What a model only thought is no evidence for what it says.
    shown = [one for one in (*rows, *before) if one.kind != Kind.REASONING]
    corpus, known = Corpus(shown), ids(rows)
    missing: list[Missing] = []
    experiences: list[Experience] = []
    for index, one in enumerate(extraction.experiences):
        kept, lacks = _experience(corpus, known, one, index)
        experiences.append(kept)
        missing += lacks
    fact = extraction.fact
    if fact is not None:
        fact, lacks = _fact(corpus, known, fact)
        missing += lacks
    doubtful = {one.index for one in missing if not one.removed}
    return Checked(
        tuple(experiences),
        tuple(index not in doubtful for index in range(len(experiences))),
        fact,
        fact is not None and None not in doubtful,
        tuple(missing),
    )


def _experience(
    corpus: Corpus, known: Collection[str], one: Experience, index: int
) -> tuple[Experience, list[Missing]]:
    def false(text: str) -> list[Claim]:
        return [each for each in claims(text) if not corpus.holds(each, anywhere=True)]

    envs, missing = _without_lines(one.boundary_envs, false, index)
    missing += (
        Missing(index, "solution", each.what, removed=False)
        for each in false(one.solution)
        if each.what in ("path", "command")
    )
    evidence, unknown = _named(one.evidence, known, index, "evidence")
    return replace(one, boundary_envs=envs, evidence=evidence), [*missing, *unknown]


def _fact(
    corpus: Corpus, known: Collection[str], fact: EpisodicFact
) -> tuple[EpisodicFact, list[Missing]]:
    def false(text: str) -> list[Claim]:
        return [each for each in claims(text) if not corpus.holds(each)]

    statement, missing = _statement(fact.statement, false)
    wrong = false(fact.subject)
    missing += (Missing(None, "subject", each.what, removed=True) for each in wrong)
    files = tuple(each for each in fact.files if corpus.has_path(each))
    lost = len(fact.files) - len(files)
    missing += [Missing(None, "files", "path", removed=True)] * lost
    evidence, unknown = _named(fact.evidence, known, None, "evidence")
    details, nowhere = _named(fact.details, known, None, "details")
    kept = replace(
        fact,
        statement=statement,
        subject="" if wrong else fact.subject,
        files=files,
        evidence=evidence,
        details=details,
    )
    return kept, [*missing, *unknown, *nowhere]


def _named(
    given: Iterable[str], known: Collection[str], index: int | None, field: str
) -> tuple[tuple[str, ...], list[Missing]]:
    """Return the ids of the segment among those that were named, each once."""
    kept, lacks = dict[str, None](), list[Missing]()
    for each in given:
        bare = each if each in known else _CITED.sub("", each)
        if bare in known:
            kept[bare] = None
        else:
            lacks.append(Missing(index, field, "entry", removed=True))
    return tuple(kept), lacks


def _without_lines(
    text: str, false: Callable[[str], list[Claim]], index: int
) -> tuple[str, list[Missing]]:
    kept, lacks = [], list[Missing]()
    for line in text.split("\n"):
        if wrong := false(line):
            lacks += (Missing(index, "boundary_envs", each.what, removed=True) for each in wrong)
        else:
            kept.append(line)
    return "\n".join(kept).strip(), lacks


def _statement(text: str, false: Callable[[str], list[Claim]]) -> tuple[str, list[Missing]]:
    """Take out of a statement what is not borne out and can be parted from the rest of it."""
    wrong = false(text)
    gone = [span for span in _separable(text) if any(_within(each, span) for each in wrong)]
    kept = _without(text, gone) if gone else text
    if not kept:
        gone, kept = [], text
    return kept, [
        Missing(None, "statement", each.what, removed=any(_within(each, span) for span in gone))
        for each in wrong
    ]


def _separable(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts that can go without harm: values of the lines after the first, and asides."""
    first = text.find("\n")
    for piece in _PIECE.finditer(text, first + 1) if first >= 0 else ():
        if _VALUE.search(piece[0]):
            yield piece.span()
    yield from (aside.span() for aside in _ASIDE.finditer(text))


def _within(claim: Claim, span: tuple[int, int]) -> bool:
    return span[0] <= claim.start and claim.end <= span[1]


def _without(text: str, gone: Sequence[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in sorted(gone):
        kept.append(text[at:start] if start > at else "")
        at = max(at, end)
    lines = "".join((*kept, text[at:])).split("\n")
    before = text.count("\n\n")
    return "\n".join(line.rstrip() for line in lines if line.strip() or before).strip()
