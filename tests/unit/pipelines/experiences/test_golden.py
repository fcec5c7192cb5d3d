"""The golden cases of answers, experiences and facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflector.pipelines.experiences import parsing

FIXTURE = Path(__file__).parents[3] / "fixtures" / "experiences.jsonl"
CASES = [json.loads(line) for line in FIXTURE.read_text("utf-8").splitlines()]


def _of(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{at}: {case['case']}")
        for at, case in enumerate(CASES)
        if case["kind"] == kind
    ]


@pytest.mark.parametrize("case", _of("parse"))
def test_a_reply_is_read_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    told = parsing.as_json(parsing.parse(case["text"]))

    assert told["experiences"] == case["experiences"]
    assert told["fact"] == case["fact"]
    assert told["repaired"] == case.get("repaired", False)


@pytest.mark.parametrize("case", _of("experience"))
def test_an_experience_is_normalised_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    told = parsing.as_json(parsing.read({"experiences": [case["raw"]]}))

    assert told["experiences"] == ([case["expected"]] if case["expected"] else [])
    assert bool(told["dropped"]) == (case["expected"] is None)


@pytest.mark.parametrize("case", _of("fact"))
def test_a_fact_is_normalised_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    told = parsing.as_json(parsing.read({"fact": case["raw"]}))

    assert told["fact"] == case["expected"]
    assert bool(told["dropped"]) == (case["expected"] is None)


def test_there_are_as_many_golden_cases_as_the_fixture_has_lines() -> None:
    assert len(CASES) == 54
    assert {case["kind"] for case in CASES} == {"parse", "experience", "fact"}
