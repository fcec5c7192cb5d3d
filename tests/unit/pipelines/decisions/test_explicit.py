"""Decisions stated in so many words, without a model."""

from __future__ import annotations

import pytest

from reflector.core.decision import Delta, Kind
from reflector.pipelines.decisions.admission import admit
from reflector.pipelines.decisions.envelope import Envelope
from reflector.pipelines.decisions.explicit import explicit


def _heard(prompt: str, assistant: str = "") -> tuple[Delta, ...]:
    found = admit(prompt, explicit(Envelope(prompt, "", assistant)))
    assert not found.rejected
    return found.deltas


@pytest.mark.parametrize(
    ("prompt", "evidence"),
    [
        ("never log request bodies", "never log request bodies"),
        ("永远不要记录请求正文", "永远不要记录请求正文"),
        ("항상 로그를 JSON으로 남겨 주세요", "항상 로그를 JSON으로 남겨 주세요"),
        ("ログは必ずJSONで出力してください", "ログは必ずJSONで出力してください"),
        ("Fine. Always use the connector’s retry", "Always use the connector’s retry"),
    ],
)
def test_what_must_always_hold_is_a_constraint_in_every_language(
    prompt: str, evidence: str
) -> None:
    (one,) = _heard(prompt)

    assert (one.kind, one.evidence) == (Kind.CONSTRAINT, evidence)
    assert not any(one.friction.as_json().values())


@pytest.mark.parametrize(
    ("prompt", "assistant"),
    [
        ("No, use tabs instead of spaces here", "I indented with blanks."),
        ("不对，应该用制表符而不是空格", "我缩进了两格"),
        ("いや、npmではなくpnpmを使って", "インストールします"),
        ("아니요, npm 말고 pnpm을 사용해 주세요", "설치하겠습니다"),
        ("We use pnpm, not npm.", "I will run npm install."),
        ("No. Always sort exports by date", "Sorted by name."),
    ],
)
def test_what_sets_the_assistant_right_is_corrective(prompt: str, assistant: str) -> None:
    (one,) = _heard(prompt, assistant)

    assert one.kind is Kind.CORRECTION
    assert one.friction.as_json() == {"corrective": True, "regression": False, "subtle": False}


def test_the_same_words_correct_nobody_when_nothing_was_said_before() -> None:
    (one,) = _heard("We use pnpm, not npm.")

    assert (one.kind, one.rejected_alternative) == (Kind.ARCHITECTURE, "npm")
    assert not one.friction.corrective


def test_an_answer_that_has_nothing_to_do_with_it_makes_no_correction() -> None:
    (one,) = _heard("We use pnpm, not npm.", "Shall I write the tests?")

    assert not one.friction.corrective


@pytest.mark.parametrize(
    "prompt",
    [
        "Always answer in German",
        "I prefer short answers",
        "Remember that my birthday is in May",
        "Never edit src/generated/api.py by hand",
        "```\nnever log request bodies\n```",
        "Should we always sort by date?",
        "fix the failing test please",
    ],
)
def test_taste_facts_places_pastes_and_tasks_are_no_decisions(prompt: str) -> None:
    assert _heard(prompt, "Done.") == ()
