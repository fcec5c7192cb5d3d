"""How documents that a query found are ordered: by its words, then by how far they can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from reflector.memory.indexed import Passage, Standing

_NEWER = 0.03
_TIED = 0.1
_YEAR = timedelta(days=365)
_VERIFIED = (0.85, 0.15)
_UNVERIFIED = (0.6, 0.1)
# A share for everybody and one that confidence earns. They are so far apart that all an unverified
# item can win (0.7 of the score, newer and tied: 0.79) is less than a verified one has at least.


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found by its best passage; the higher the score the better.

    `at` is when main last changed it.
    """

    path: str
    about: str
    passage: Passage
    score: float
    at: str
    layer: str = "documents"
    standing: Standing = field(default_factory=Standing)


def in_order(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the best hits with the scores that make them so.

    A score is what the words of the query are worth in the document (BM25), times how far it can
    be trusted, raised a little where it is newer, and where it is an experience that belongs to a
    fact among the best.
    """
    newest = max((each.at for each in hits), default="")
    valued = _sorted(replace(each, score=each.score * _worth(each, newest)) for each in hits)
    facts = [each for each in valued[:limit] if each.layer == "facts"]
    return _sorted(_tied(each, facts) for each in valued)[:limit]


def trust(standing: Standing) -> float:
    """Return the share of its score that an item keeps, 1 for one that is verified and certain."""
    base, earned = _VERIFIED if standing.verified else _UNVERIFIED
    return base + earned * standing.confidence


def _sorted(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.path))


def _worth(hit: Hit, newest: str) -> float:
    return trust(hit.standing) * (1 + _NEWER * (1 - _years(hit.at, newest)))


def _tied(hit: Hit, facts: Sequence[Hit]) -> Hit:
    """Raise an experience that a fact names, or that was taken from the same entries."""
    if hit.layer != "experiences" or not any(_belong(hit, fact) for fact in facts):
        return hit
    return replace(hit, score=hit.score * (1 + _TIED))


def _belong(experience: Hit, fact: Hit) -> bool:
    named = experience.path.removesuffix(".md")
    mine, theirs = experience.standing.evidence, fact.standing.evidence
    return _shares(mine, theirs) or any(
        link.removesuffix(".md") == named for link in fact.standing.links
    )


def _shares(one: Collection[str], other: Collection[str]) -> bool:
    return not set(one).isdisjoint(other)


def _years(earlier: str, later: str) -> float:
    """Return the time between two instants in years, one at most."""
    try:
        passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except ValueError:
        return 1
    return min(max(passed / _YEAR, 0.0), 1.0)
