"""Recall finds what the labelled queries ask for, on the half that nothing was tuned on."""

from __future__ import annotations

import pytest

from tests.quality.recall.corpus import Query, documents, labelled
from tests.quality.recall.evaluate import Search, judge, sides

pytestmark = pytest.mark.slow

LITERAL = ("literal", "code", "error", "ticket")
WIDE = ("zh", "ja", "ko")
LEAST = 0.9


@pytest.fixture(scope="module")
def searches() -> dict[str, Search]:
    return sides(documents())


@pytest.fixture(scope="module")
def held_out() -> list[Query]:
    return [query for query in labelled()[1] if query.held_out]


def test_the_benchmark_is_as_large_as_it_says():
    targets, queries = labelled()
    paths = {target.path for target in targets}
    assert len(targets) >= 160
    assert len(queries) >= 150
    assert len(documents()) >= 1000
    assert {query.path for query in queries} <= paths
    assert len({query.text for query in queries}) == len(queries)


@pytest.mark.parametrize("kinds", [LITERAL, WIDE])
def test_nine_of_ten_are_among_the_first_five(searches, held_out, kinds):
    chosen = [query for query in held_out if query.kind in kinds]
    score = judge(searches["ours"], chosen)
    assert score.recall >= LEAST, [query.text for query in score.missed]


def test_no_other_way_to_search_finds_more(searches, held_out):
    scores = {name: judge(search, held_out) for name, search in searches.items()}
    ours = scores.pop("ours")
    for name, theirs in scores.items():
        assert ours.recall > theirs.recall, name
        assert ours.mrr > theirs.mrr, name
