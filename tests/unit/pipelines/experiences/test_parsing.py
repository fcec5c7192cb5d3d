"""An answer is read item by item, however it is written, and nothing in it can break the reading."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.experience import Dropped, Extraction
from reflector.pipelines.experiences import parsing
from tests.support.secret_samples import CAUGHT

GOOD = {"task": "tail a rotated log", "solution": "use `tail -F`"}
ANSWER = {"experiences": [GOOD], "fact": {"statement": "tail -F survived"}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=4,
)
names = st.sampled_from(
    ["experiences", "memories", "fact", "facts", "task", "solution", "statement", "confidence"]
)
items = st.dictionaries(names, json_values, max_size=3)
odd_answers = st.dictionaries(names, json_values | st.lists(items, max_size=2), max_size=3)


@settings(deadline=None)
@given(st.text() | st.text(alphabet='{}[]",:\\`\n experincsfact') | json_values.map(json.dumps))
def test_no_text_breaks_the_reading(text: str) -> None:
    json.dumps(parsing.as_json(parsing.parse(text)), ensure_ascii=False).encode()


@settings(deadline=None, max_examples=50)
@given(odd_answers)
def test_no_object_breaks_the_reading_and_its_text_is_read_alike(answer) -> None:
    read = parsing.read(answer)
    json.dumps(parsing.as_json(read), ensure_ascii=False, allow_nan=False).encode()
    if parsing.readable(answer):
        parsed = parsing.parse(json.dumps(answer))
        assert (parsed.experiences, parsed.fact) == (read.experiences, read.fact)


@settings(deadline=None)
@given(st.lists(st.sampled_from([None, 3, "x", [], {}, {"task": " "}, {"task": "t"}, GOOD])))
def test_good_siblings_of_bad_items_stay(items) -> None:
    read = parsing.read({"experiences": items})

    assert len(read.experiences) == items.count(GOOD)
    assert [one.index for one in read.dropped] == [
        at for at, each in enumerate(items) if each != GOOD
    ]


def test_of_a_flood_of_items_the_first_hundred_are_read() -> None:
    read = parsing.read({"experiences": [GOOD] * 90_000, "facts": [{"statement": "a"}] * 90_000})

    assert len(read.experiences) == 100
    assert Dropped(89_999, "one_too_many") in read.dropped
    assert read.fact is not None


def test_a_nesting_beyond_all_measure_costs_its_item_alone() -> None:
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    for more in ({"task": deep}, {"boundary_envs": {"a": deep}}):
        read = parsing.read({"experiences": [GOOD | more, GOOD], "fact": {"statement": deep}})
        assert [one.task for one in read.experiences] == [GOOD["task"]]
        assert Dropped(0, "not_an_object") in read.dropped
        assert read.fact is None


@settings(deadline=None, max_examples=50)
@given(odd_answers)
def test_what_was_read_is_read_again_as_it_is(answer) -> None:
    once = parsing.read(answer)
    again = parsing.read(parsing.as_json(once))

    assert (again.experiences, again.fact) == (once.experiences, once.fact)


@pytest.mark.parametrize(
    "written",
    [
        '{"experiences": [{"task": "a", "solution": "b"}], "fact": {"statement": "c", "su',
        '{"experiences": [{"task": "a", "solution": "b"}',
        '{"other": 1}',
        "nothing to report",
    ],
)
def test_an_answer_that_is_none_gives_nothing(written: str) -> None:
    assert not parsing.readable(written)
    assert parsing.parse(written) == Extraction()


def test_an_empty_answer_is_an_answer() -> None:
    assert parsing.readable('{"experiences": []}')
    assert parsing.readable({"fact": None})
    assert not parsing.readable({"note": "x"})


def test_a_draft_among_the_thoughts_is_not_the_answer() -> None:
    found = parsing.parse(f'<think>{{"experiences": []}}</think>{json.dumps(ANSWER)}')

    assert found.repaired
    assert found == parsing.parse(f"<think>so</think>{json.dumps(ANSWER)}")
    assert [one.task for one in found.experiences] == [GOOD["task"]]


def test_the_first_of_several_answers_is_taken_wherever_it_stands() -> None:
    first, last = json.dumps({"fact": {"statement": "a"}}), json.dumps({"fact": {"statement": "b"}})
    fenced = "```json\n{}\n```\n"
    for text in (
        first + fenced.format(last),
        fenced.format(first) + last,
        fenced.format(first) + fenced.format(last),
        f"{first} or {last}",
    ):
        found = parsing.parse(text)
        assert found.repaired
        assert found.fact is not None
        assert found.fact.statement == "a"


def test_code_in_an_answer_does_not_end_its_fence() -> None:
    solution = "```bash\ntail -F x\n```\nand {braces}, too"
    answer = {"experiences": [GOOD | {"solution": solution}]}
    found = parsing.parse(f"Here:\n```json\n{json.dumps(answer, indent=1)}\n```\nDone.")

    assert [one.solution for one in found.experiences] == [solution]
    assert not found.repaired


def test_a_comma_before_an_end_is_left_alone_in_a_text() -> None:
    found = parsing.parse('{"fact": {"statement": "f(a,) or [1, ]", }}')

    assert found.fact is not None
    assert found.fact.statement == "f(a,) or [1, ]"


def test_an_argument_that_was_written_twice_is_unpacked() -> None:
    found = parsing.read({"experiences": json.dumps([GOOD]), "fact": json.dumps(ANSWER["fact"])})

    assert [one.task for one in found.experiences] == [GOOD["task"]]
    assert found.fact is not None
    assert found.repaired


def test_of_several_facts_the_first_good_one_is_kept_and_the_others_are_told() -> None:
    found = parsing.read({"facts": [{"statement": " "}, {"statement": "a"}, {"statement": "b"}]})

    assert found.fact is not None
    assert found.fact.statement == "a"
    assert found.dropped == (Dropped(None, "statement_blank"), Dropped(None, "one_too_many"))


def test_lines_are_made_of_lists_and_objects() -> None:
    envs = {"python": 3.11, "region": ["eu", "us"], "debug": True, "none": None}
    (one,) = parsing.read({"experiences": [GOOD | {"boundary_envs": envs}]}).experiences
    (other,) = parsing.read({"experiences": [GOOD | {"boundary_envs": [envs, "x: y"]}]}).experiences

    assert one.boundary_envs == "python: 3.11\nregion: eu, us\ndebug: true"
    assert other.boundary_envs == f"{one.boundary_envs}\nx: y"


@pytest.mark.parametrize(
    ("given_as", "confidence"),
    [
        *((math.inf, 1), (-math.inf, 0), (-3, 0), (10**400, 1), (" 0.25 ", 0.25), ("1e-1", 0.1)),
        *((math.nan, 0.7), ("", 0.7), ("0.4.1", 0.7), (None, 0.7), ("1_0", 0.7), (0, 0)),
    ],
)
def test_a_confidence_is_a_number_between_none_and_all(given_as, confidence: float) -> None:
    (one,) = parsing.read({"experiences": [GOOD | {"confidence": given_as}]}).experiences

    assert one.confidence == confidence


def test_a_secret_stays_in_no_field() -> None:
    for secret in (*CAUGHT["github"], *CAUGHT["anthropic"], *CAUGHT["slack"]):
        fields = {
            "task": f"use {secret}",
            "solution": f"export X={secret}",
            "search_keys": [secret],
        }
        fact = {"statement": f"it is {secret}", "subject": secret[:70], "files": [f"/a/{secret}"]}
        answer = {"experiences": [fields | {"boundary_envs": f"k: {secret}"}], "fact": fact}
        assert secret not in json.dumps(parsing.as_json(parsing.read(answer)))


def test_a_text_that_no_file_can_hold_is_mended() -> None:
    found = parsing.parse('{"fact": {"statement": "a\\ud800b\\u0000c\\r\\nd"}}')

    assert found.fact is not None
    assert found.fact.statement == "a\ufffdbc\nd"


@pytest.mark.parametrize("piece", ["{", "[", '{"a":', '"\\', "```json {", '{"fact": ', ",  "])
def test_a_long_hostile_text_is_given_up(piece: str) -> None:
    assert parsing.parse(piece * 20_000) == Extraction()
