"""When two statements are about the same thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.overlap import Overlaps, alike, negative, states, tokens


def similar(one: str, other: str) -> bool:
    return alike(tokens(one), tokens(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Exports are sorted by date.", "Exports are always sorted by date, oldest first."),
        ("Exports are sorted by date.", "Exports are sorted by name."),
        ("The status bar has a solid right edge.", "Status bar: solid right edge, no bold."),
        ("日志必须使用 JSON 格式", "日志始终使用 JSON 格式输出"),
        ("Ｌｏｇｓ are JSON.", "logs are json"),
    ],
)
def test_statements_about_the_same_thing_are_similar(one: str, other: str) -> None:
    assert similar(one, other)
    assert similar(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Exports are sorted by date.", "Cache entries expire after 90 minutes."),
        ("Use SQLite.", "Use Redis."),
        ("Logs are JSON.", "The settings, the exports and the caches are JSON in all builds."),
        ("", ""),
        ("always never the", "always never the"),
        ("日志必须使用格式", "缓存九十分钟过期"),
    ],
)
def test_statements_about_other_things_are_not(one: str, other: str) -> None:
    assert not similar(one, other)


def test_a_statement_states_what_all_its_words_name() -> None:
    assert states("The queue is stored in Redis.", "Redis")
    assert states("Jobs are kept by Redis streams.", "redis streams")
    assert not states("The queue is stored in Redis.", "Redis streams")
    assert not states("The queue is stored in Redis.", "")
    assert not states("We use C++ here", "C")


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_goes_both_ways(one: str, other: str) -> None:
    assert similar(one, other) == similar(other, one)
    assert similar(one, one) == bool(tokens(one))


_WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=8)


@given(st.lists(_WORDS, max_size=8), _WORDS)
def test_looking_among_many_finds_what_comparing_each_pair_finds(
    texts: list[frozenset[str]], words: frozenset[str]
) -> None:
    found = Overlaps(enumerate(texts)).like(words)

    assert found == {at for at, each in enumerate(texts) if alike(words, each)}


@pytest.mark.parametrize(
    "text",
    ["Never sort.", "Do not sort.", "Don’t sort.", "不要排序", "ソートしない", "정렬하지 마세요"],
)
def test_a_prohibition_is_told_from_a_rule(text: str) -> None:
    assert negative(text)
    assert not negative("Sort by date, notes first.")
