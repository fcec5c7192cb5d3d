"""`reflector experiences parse` says what an extraction reads, in both forms."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from reflector.surface.cli.main import main
from tests.unit.pipelines.experiences.test_golden import CASES


@pytest.fixture
def parse(monkeypatch, capsys, tmp_path):
    """Return what runs the command on a reply: its exit code and what it printed."""

    def run(reply: bytes, *words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(reply)))
        code = main(["experiences", "parse", *words, "--home", str(tmp_path / "home")])
        return code, "".join(capsys.readouterr())

    return run


def _reply(case: dict[str, Any]) -> str:
    if case["kind"] == "parse":
        return str(case["text"])
    key, raw = ("fact", case["raw"]) if case["kind"] == "fact" else ("experiences", [case["raw"]])
    return json.dumps({key: raw})


def _expected(case: dict[str, Any]) -> dict[str, object]:
    if case["kind"] == "parse":
        return {"experiences": case["experiences"], "fact": case["fact"]}
    if case["kind"] == "fact":
        return {"experiences": [], "fact": case["expected"]}
    return {"experiences": [case["expected"]] if case["expected"] else [], "fact": None}


def test_every_golden_case_passes_through_the_command(parse) -> None:
    for case in CASES:
        code, printed = parse(_reply(case).encode(), "--json")
        told = json.loads(printed)
        assert code == 0
        assert {name: told[name] for name in ("experiences", "fact")} == _expected(case)
        assert told["repaired"] == case.get("repaired", False)
        assert set(told) == {"experiences", "fact", "repaired", "dropped"}


def test_a_dropped_item_is_told_by_its_place_and_reason(parse) -> None:
    reply = b'{"experiences": [3, {"task": "t", "solution": "s"}], "fact": {"statement": ""}}'

    assert json.loads(parse(reply, "--json")[1])["dropped"] == [
        {"index": 0, "reason": "not_an_object"},
        {"index": None, "reason": "statement_blank"},
    ]
    said = parse(reply)[1]
    assert "dropped  experience 0: not_an_object" in said
    assert "dropped  the fact: statement_blank" in said


def test_a_person_reads_what_was_read(parse) -> None:
    reply = (
        'So: {"experiences": [{"task": "t\\u001b[31m", "solution": "one\\ntwo", '
        '"boundary_envs": "py: 3"}], "fact": {"statement": "done", "files": ["a.py"]}}'
    )
    code, said = parse(reply.encode())

    assert code == 0
    assert "\x1b[31m" not in said
    for line in ("    one\n", "    two\n", "    py: 3\n", "fact  (no subject)", "    a.py\n"):
        assert line in said
    assert "had to be mended" in said


@pytest.mark.parametrize("reply", [b"", b"\xff\xfe", b"nothing", b"{}"])
def test_a_reply_without_an_answer_is_said_to_hold_none(parse, reply: bytes) -> None:
    code, said = parse(reply)

    assert code == 0
    assert "There is no answer in it" in said


def test_an_answer_that_gives_nothing_is_said_to_be_empty(parse) -> None:
    assert parse(b'{"experiences": []}')[1] == "The answer is empty: no experience and no fact.\n"
