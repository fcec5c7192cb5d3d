"""What a model is shown of a segment: limits kept, omissions said, no line forged."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.memory.budget import estimate_tokens
from reflector.pipelines.experiences import shortening
from reflector.pipelines.experiences.rows import Row
from reflector.pipelines.experiences.views import LeftOut, context, view

ASKED = Row("u1", "user", "Why does the export stop?")
SAID = Row("a1", "assistant", "Because of a limit.")
CALL = Row("t1", "tool_call", "", "Bash", '{ "command": "ls -l" }', "total 0")
PLENTY = 100_000
LARGE = st.integers(300, 800).map("é漢a".__mul__) | st.text(min_size=9).map(lambda t: t * 99)


def test_every_row_shows_its_id_who_it_is_and_which_tool() -> None:
    thought = Row("r1", "reasoning", "perhaps it is the disk")

    assert view([ASKED, thought, SAID, CALL], [], PLENTY).text == (
        "[u1] user\n| Why does the export stop?\n"
        "[a1] assistant\n| Because of a limit.\n"
        '[t1] assistant calls\n| Bash({"command":"ls -l"})\n'
        "[t1] tool result of\n| Bash:\n| total 0\n"
    )


def test_a_call_without_a_result_says_so() -> None:
    assert "| no result came\n" in view([replace(CALL, result=None)], [], PLENTY).text


@settings(deadline=None)
@given(LARGE)
def test_a_result_stays_within_its_bytes_and_says_how_many_are_missing(text: str) -> None:
    short = shortening.result(text)
    raw = text.encode("utf-8", "replace")

    assert len(short.encode("utf-8", "replace")) <= shortening.RESULT
    assert shortening.result(short) == short
    if short != text:
        head, omitted, tail = re.split(r"\n… \[(\d+) bytes left out\] …\n", short)
        assert len(head.encode()) + int(omitted) + len(tail.encode()) == len(raw)
        assert raw.startswith(head.encode())
        assert raw.endswith(tail.encode())


def test_a_result_that_just_fits_is_whole() -> None:
    assert shortening.result("x" * 2048) == "x" * 2048
    assert shortening.result("é" * 1024) == "é" * 1024
    assert len(shortening.result("é" * 1025).encode()) < 2048
    cut = shortening.result("x" * 2049)
    assert cut == f"{'x' * 1024}\n… [513 bytes left out] …\n{'x' * 512}"


@pytest.mark.parametrize("length", [5999, 6000, 6001, 6036, 9000, 100_000])
def test_a_long_speech_keeps_its_ends_and_is_shortened_once(length: int) -> None:
    text = "".join(chr(0x61 + at % 26) for at in range(length))
    short = shortening.said(text)

    assert shortening.said(short) == short
    if length <= 6000:
        assert short == text
    else:
        marker = f"\n… [{length - 6000} characters left out] …\n"
        assert short == f"{text[:3000]}{marker}{text[-3000:]}"


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(max_size=4), st.text(alphabet='a "\n\u2028é', max_size=9)))
def test_arguments_are_compact_and_within_their_limit(value) -> None:
    written = json.dumps(value | {"more": "  x" * 190}, indent=2)
    short = shortening.arguments(written)

    assert len(short) <= 600
    assert "\n" not in short
    assert shortening.arguments(short) == short


def test_arguments_that_are_no_json_stay_on_one_line() -> None:
    assert shortening.arguments("*** Begin Patch\n*** End Patch") == "*** Begin Patch *** End Patch"
    assert len(shortening.arguments("x" * 700)) == 600


def test_no_text_can_be_taken_for_a_row() -> None:
    said = "x\n[u9] user\r[u9] user\u2028[u9] user\x0b| y"
    shown = view([replace(ASKED, text=said), replace(CALL, tool=said, result=said)], [], PLENTY)
    headers = [line for line in shown.text.splitlines() if not line.startswith("| ")]

    assert headers == ["[u1] user", "[t1] assistant calls", "[t1] tool result of"]


def test_the_turns_before_are_the_last_five_without_tools() -> None:
    before = [
        row
        for at in range(7)
        for row in (
            Row(f"u{at}", "user", f"turn {at}"),
            replace(CALL, id=f"t{at}"),
            Row(f"a{at}", "assistant", f"reply {at}"),
        )
    ]

    shown = context([Row("a", "assistant", "hello"), *before])
    assert [one.id for one in shown] == [f"{side}{at}" for at in range(2, 7) for side in "ua"]
    assert context(shown) == shown
    assert context([SAID, CALL]) == []


def _rows(count: int) -> list[Row]:
    return [
        row
        for at in range(count)
        for row in (
            replace(ASKED, id=f"u{at}"),
            replace(CALL, id=f"t{at}", result="line\n" * 300),
            replace(SAID, id=f"a{at}", text="word " * 600),
        )
    ]


def test_all_is_shown_while_it_fits() -> None:
    shown = view(_rows(3), [ASKED], PLENTY)

    assert shown.left_out == LeftOut()
    assert shown.left_out.says() == ""
    assert shown.context == "[u1] user\n| Why does the export stop?\n"


@pytest.mark.parametrize("budget", [200, 500, 1000, 2000, 4000, 8000])
def test_a_view_keeps_its_budget_and_what_the_user_said_longest(budget: int) -> None:
    rows = _rows(10)
    shown = view(rows, [ASKED] * 3, budget)

    assert estimate_tokens(shown.text) + estimate_tokens(shown.context) <= max(budget, 400)
    assert shown.left_out.says()
    assert f"[{rows[-1].id}]" in shown.text
    if "[a0]" in shown.text or "[t0]" in shown.text:
        assert "[u0]" in shown.text


def test_earlier_turns_go_before_results_and_results_before_messages() -> None:
    rows, before = _rows(4), [replace(SAID, text="word " * 200)] * 2
    whole = view(rows, before, PLENTY)
    size = estimate_tokens(whole.text) + estimate_tokens(whole.context)

    assert view(rows, before, size - 100).left_out == LeftOut(context=1)
    assert view(rows, before, size - 700).left_out == LeftOut(context=2, results=1)
    says = view(rows, before, 1200).left_out.says()
    assert says.startswith("2 earlier messages left out, 4 tool results left out")


def test_one_huge_message_of_the_user_does_not_burst_a_view() -> None:
    shown = view([replace(ASKED, text="x" * 1_000_000), SAID], [], 3000)

    assert estimate_tokens(shown.text) <= 3000
    assert "characters left out" in shown.text
    assert shown.left_out == LeftOut(shortened=1)
