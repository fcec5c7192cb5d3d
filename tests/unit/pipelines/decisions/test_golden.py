"""The golden cases of envelopes, admission and the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflector.pipelines.decisions.envelope import skipped
from reflector.pipelines.decisions.machine import admitted, enveloped

FIXTURE = Path(__file__).parents[3] / "fixtures" / "decisions.jsonl"
CASES = [json.loads(line) for line in FIXTURE.read_text("utf-8").splitlines()]


def _of(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{at}: {case['case']}")
        for at, case in enumerate(CASES)
        if case["kind"] == kind
    ]


@pytest.mark.parametrize("case", _of("envelope"))
def test_an_envelope_is_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    found = enveloped({"messages": case["messages"], "current": case["current"]})

    assert (found.as_json() if found else None) == case["expected"]


@pytest.mark.parametrize("case", _of("admission"))
def test_a_candidate_is_judged_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    found = admitted({"prompt": case["prompt"], "candidates": [case["candidate"]]})

    assert bool(found.deltas) == case["admitted"]
    if found.deltas:
        told = found.deltas[0].as_json()
        assert {name: told.get(name) for name in case["expected"]} == case["expected"]
        optional = {"rejected_alternative", "rationale"}
        assert optional & told.keys() == optional & case["expected"].keys()
    else:
        assert [one.as_json() for one in found.rejected] == [{"index": 0, "reason": case["reason"]}]


@pytest.mark.parametrize("case", _of("gate"))
def test_an_extraction_starts_as_the_golden_case_has_it(case: dict[str, Any]) -> None:
    assert (skipped(case["prompt"], after_assistant=False) is None) == case["starts"]


def test_there_are_as_many_golden_cases_as_the_fixture_has_lines() -> None:
    assert len(CASES) == 54
    assert {case["kind"] for case in CASES} == {"envelope", "admission", "gate"}
