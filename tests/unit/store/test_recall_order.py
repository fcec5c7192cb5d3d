"""In which order documents are shown: by words, then by how far they can be trusted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.indexed import Passage, Standing
from reflector.store.recall_order import Hit, in_order, trust

EARLY, LATE = "2026-01-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"
SHARES = st.floats(0, 1)
MOMENTS = st.sampled_from((EARLY, LATE, "?"))


def hit(path: str, score: float = 1, at: str = EARLY, layer: str = "documents", **said) -> Hit:
    return Hit(path, "", Passage("", ""), score, at, layer, Standing(**said))


def paths(hits: list[Hit], limit: int = 10) -> list[str]:
    return [each.path for each in in_order(hits, limit)]


def test_the_newer_of_two_equals_comes_first_and_the_better_of_two_before_it():
    three = [hit("old", 1, EARLY), hit("new", 1, LATE), hit("best", 1.1, EARLY)]
    assert paths(three) == ["best", "new", "old"]
    assert paths([hit("b", 1, "?"), hit("a", 1, "?")]) == ["a", "b"]


@given(SHARES, SHARES, MOMENTS, MOMENTS, st.floats(0.1, 50))
def test_with_equal_words_no_unverified_item_comes_before_a_verified_one(one, two, at, then, score):
    """Whatever else speaks for it: it is newer, sure, and belongs to a fact that is found."""
    sure = hit("z", score, at, "experiences", confidence=one)
    unsure = hit("a", score, then, "experiences", confidence=two, verified=False, evidence=("e",))
    fact = hit("f", score, EARLY, "facts", evidence=("e",))
    order = paths([unsure, fact, sure])
    assert order.index("z") < order.index("a")


@given(SHARES, SHARES, st.booleans())
def test_confidence_never_lowers_a_score(one, two, verified):
    low, high = sorted((one, two))
    least, most = (trust(Standing(confidence=each, verified=verified)) for each in (low, high))
    assert 0 < least <= most <= 1


def test_what_says_nothing_of_itself_keeps_its_score():
    (only,) = in_order([hit("a", 3.0, "?")], 1)
    assert only.score == 3.0


def test_an_experience_of_a_fact_that_is_found_comes_before_its_equal():
    fact = hit("facts/f.md", 9, layer="facts", links=("experiences/linked.md",), evidence=("e1",))
    others = [
        hit("experiences/alone.md", 1.0, layer="experiences", evidence=("e9",)),
        hit("experiences/linked", 0.95, layer="experiences"),
        hit("experiences/same.md", 0.94, layer="experiences", evidence=("e1", "e2")),
        hit("reference/linked.md", 0.97, evidence=("e1",)),
    ]
    assert paths([*others, fact])[:3] == [
        *("facts/f.md", "experiences/linked", "experiences/same.md"),
    ]
    assert paths(others)[0] == "experiences/alone.md"
    # Only a fact that is shown itself pulls anything up.
    far = hit("facts/f.md", 0.1, layer="facts", evidence=("e1",))
    assert paths([*others, far], limit=3)[0] == "experiences/alone.md"
