from __future__ import annotations

import json

import pytest

from tests.quality.rules import evaluate


def rows(name: str) -> list[dict[str, object]]:
    text = (evaluate.HERE / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_every_second_sentence_and_every_second_conversation_is_held():
    assert [row["held"] for row in rows("sentences.jsonl")] == [
        number % 2 == 1 for number in range(len(rows("sentences.jsonl")))
    ]
    labels = rows("labels.jsonl")
    files = sorted({str(row["file"]) for row in labels})
    assert all(row["held"] == (files.index(str(row["file"])) % 2 == 1) for row in labels)


def test_the_labels_hold_no_text_of_the_recorded_conversations():
    assert {key for row in rows("labels.jsonl") for key in row} == {"file", "line", "label", "held"}


@pytest.mark.parametrize("held", [False, True])
def test_nine_of_ten_statements_found_are_really_there(held: bool):  # noqa: FBT001
    result = evaluate.score(held=held)
    assert result.positives >= 25
    assert result.negatives >= 60
    assert result.precision >= 0.9, result.wrong
