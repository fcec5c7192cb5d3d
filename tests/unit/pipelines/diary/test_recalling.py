"""What comes to mind: similar enough, not just said, never forced."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.diary import Entry, Kind
from reflector.pipelines.diary import decay
from reflector.pipelines.diary.constants import DEFAULTS, WRITTEN, Constants, constants_of
from reflector.pipelines.diary.recalling import Index, recall

TODAY = date(2026, 11, 30)


def entry(name: str, text: str, days: int = 3, kind: Kind = "chat", salience: float = 0.9) -> Entry:
    day = (TODAY - timedelta(days=days)).isoformat()
    return Entry(name, day, text, kind, salience=salience, reinforced_on=day)


FILLING = [
    entry(f"f{n}", f"Something else number {n} about word{n} and thing{n}.") for n in range(60)
]
GOAT = entry("goat", "We named the nightly backup job the goat, because it eats every disk.")


def ids(query: str, *more: Entry, **given_: object) -> list[str]:
    wanted: dict[str, object] = {"mentioned": {}, "recent_ids": (), "draw": lambda: 0.0, **given_}
    found = recall([*FILLING, *more], query, TODAY, **wanted)  # type: ignore[arg-type]
    return [each.entry.id for each in found]


def test_what_is_asked_for_in_its_own_words_always_comes() -> None:
    faded = replace(GOAT, date="2024-01-01", reinforced_on="2024-01-01", salience=0.2)

    assert decay.salience(faded, TODAY) < decay.LEAST
    assert ids("the goat ate the nightly backup disk", faded) == ["goat"]


def test_what_hardly_fits_does_not_come_and_neither_does_what_fits_but_has_faded() -> None:
    assert ids("any plans for the weekend", GOAT) == []
    assert ids("goat", GOAT) == ["goat"]
    assert ids("goat", replace(GOAT, salience=0.6, reinforced_on="2026-11-20")) == []


def test_similarity_is_the_formula() -> None:
    index = Index([*FILLING, GOAT])
    idf = math.log(1 + (61 - 1 + 0.5) / 1.5)
    ((found, similarity),) = index.similar("goat disk")

    assert found == GOAT
    assert similarity == pytest.approx(1 - math.exp(-2 * idf / 6))


def test_the_score_is_the_formula() -> None:
    said = replace(GOAT, date="2026-11-15", reinforced_on="2026-11-28")
    (found,) = recall([*FILLING, said], "goat", TODAY, {"goat": 20}, (), lambda: 0.0)

    similarity = 1 - math.exp(-math.log(1 + 60.5 / 1.5) / 6)
    salience, freshness, mentioned = 0.9 * 0.9**2, math.exp(-15 / 30), 1 - 12 / 24
    assert found.similarity == pytest.approx(similarity)
    assert found.score == pytest.approx(
        0.60 * similarity + 0.20 * salience + 0.15 * freshness - 0.35 * mentioned
    )


def test_at_most_two_come_and_the_strongest_first() -> None:
    goats = [replace(GOAT, id=f"g{n}", salience=0.5 + n / 10) for n in range(5)]

    assert ids("goat eats disk backup nightly", *goats) == ["g4", "g3"]


def test_nothing_comes_that_is_shown_anyway_or_was_said_within_eight_turns() -> None:
    query = "goat eats disk backup nightly"

    assert ids(query, GOAT, recent_ids={"goat"}) == []
    assert ids(query, GOAT, mentioned={"goat": 8}) == []
    assert ids(query, GOAT, mentioned={"goat": 9}) == ["goat"]


def test_what_somebody_confided_has_to_be_asked_for_more_clearly() -> None:
    told = replace(GOAT, id="told", kind="disclosure")
    loose = next(
        name for name, s in _similarities("goat", told) if DEFAULTS.least_similarity <= s < 0.6
    )

    assert loose == "told"
    assert ids("goat", told) == []
    assert ids("goat disk", told) == ["told"]


def _similarities(query: str, *more: Entry) -> list[tuple[str, float]]:
    return [(each.id, similarity) for each, similarity in Index([*FILLING, *more]).similar(query)]


def test_the_draw_decides_among_what_could_come_and_the_better_is_likelier() -> None:
    good = replace(GOAT, id="good")
    poor = replace(GOAT, id="poor", date="2026-09-01", salience=0.75)
    steps = iter([n / 200 for n in range(200)])
    one = Constants(most=1)
    drawn = [
        recall([*FILLING, good, poor], "goat", TODAY, {}, (), steps.__next__, one)[0].entry.id
        for _ in range(200)
    ]

    assert 100 < drawn.count("good") < 200
    assert drawn.count("poor") == 200 - drawn.count("good")


def test_the_same_source_of_chance_brings_the_same_memories() -> None:
    goats = [replace(GOAT, id=f"g{n}", date=f"2026-11-{n + 10}") for n in range(8)]

    def source() -> Callable[[], float]:
        return iter([0.7, 0.2, 0.9]).__next__

    assert ids("goat", *goats, draw=source()) == ids("goat", *reversed(goats), draw=source())


def test_chinese_is_found_by_its_pairs_and_by_a_single_character() -> None:
    said = entry("zh", "他把那个备份脚本叫做山羊，因为什么都吃。")
    others = [entry(f"z{n}", f"我们聊了第{n}次晚饭。") for n in range(40)]

    assert [
        each.entry.id
        for each in recall([*others, said], "山羊又吃什么了", TODAY, {}, (), lambda: 0.0)
    ] == ["zh"]
    assert [each.id for each, _ in Index([*others, said]).similar("羊")] == ["zh"]


def test_a_long_query_finds_what_its_one_telling_word_means() -> None:
    talk = " ".join(f"{'xyz'[n % 3] * 3}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(500))

    assert ids(f"{talk} goat eats disk backup nightly {talk}", GOAT) == ["goat"]


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(["goat", "disk goat", "山羊", "lamp", ""])),
        max_size=30,
    )
)
def test_an_index_that_grew_and_shrank_answers_as_one_made_anew(
    changes: list[tuple[int, str]],
) -> None:
    index = Index()
    kept: dict[str, Entry] = {}
    for number, text in changes:
        name = f"e{number}"
        if text:
            kept[name] = entry(name, text)
            index.add(kept[name])
        else:
            kept.pop(name, None)
            index.remove(name)
    for query in ("goat", "disk", "羊", "lamp"):
        found = {
            each.id: round(s, 9) for each, s in index.similar(query, Constants(least_similarity=0))
        }
        anew = Index(kept.values()).similar(query, Constants(least_similarity=0))
        assert found == {each.id: round(s, 9) for each, s in anew}
    assert len(index) == len(kept)


def test_salience_falls_by_a_tenth_a_day_and_nothing_is_written() -> None:
    said = replace(GOAT, salience=0.8, reinforced_on="2026-11-28")

    assert decay.salience(said, TODAY) == pytest.approx(0.8 * 0.81)
    assert decay.salience(replace(said, reinforced_on="2026-12-24"), TODAY) == 0.8
    assert decay.salience(replace(said, reinforced_on=""), TODAY) == pytest.approx(0.8 * 0.9**3)
    assert decay.vivid(replace(said, salience=0.1, reinforced_on="2026-11-30"), TODAY)
    assert not decay.vivid(replace(said, salience=0.1), TODAY)


def test_settings_write_the_constants_as_whole_numbers() -> None:
    assert constants_of(WRITTEN) == DEFAULTS
    assert constants_of(()) == DEFAULTS
    changed = constants_of(["similarity=50", "most=1", "temperature=0", "quiet_turns=12"])
    assert changed == replace(DEFAULTS, similarity=0.5, most=1, temperature=0.01, quiet_turns=12)
    assert all(0 < int(value.partition("=")[2]) <= 100 for value in WRITTEN)
