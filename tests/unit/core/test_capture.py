from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.capture import REASONING, TOOL_LIMIT, capture, shorten
from reflector.core.entry import Entry, Kind
from reflector.core.sentinel import opening
from tests.support.blocks import wrap

TOKEN = "ghp_" + "A1b2C3d4E5" * 4
BLOCK = wrap("a", "0123456789ab", "old memory")


def _entry(kind: Kind, text: str = "") -> Entry:
    return Entry(id="h:1:0", message_id="m", kind=kind, text=text)


def _call(arguments: str = "", result: str | None = None) -> Entry:
    return replace(_entry(Kind.TOOL_CALL), tool="shell", arguments=arguments, result=result)


def test_injected_memory_never_comes_back():
    assert capture(_entry(Kind.USER, text=f"hi {BLOCK}there"))[0].text == "hi there"
    assert capture(_call(result=f"cat: {BLOCK}"))[0].result == "cat: "


def test_an_open_block_is_taken_out_of_a_result_and_left_in_typed_text():
    text = f"see {opening('a', 'none')} here"
    assert capture(_call(result=text))[0].result == "see "
    assert capture(_entry(Kind.USER, text=text))[0].text == text


def test_secrets_go_and_are_counted():
    entry, counts = capture(_entry(Kind.ASSISTANT, text=f"use {TOKEN}"))
    assert entry.text == "use [REDACTED:github]"
    assert counts == {"github": 1}


def test_a_value_in_the_arguments_is_taken_out_of_the_result():
    value = "Zx9Yw8" + "Vu7Ts6"
    entry, counts = capture(_call(f'{{"password": "{value}"}}', f"denied for {value}"))
    assert value not in entry.arguments + (entry.result or "")
    assert counts == {"password-field": 2}


def test_a_secret_on_the_line_of_the_cut_does_not_survive_in_half():
    for shift in range(0, len(TOKEN), 5):
        text = "x " * ((TOOL_LIMIT // 2 - shift) // 2) + TOKEN + " y" * TOOL_LIMIT
        assert "ghp_" not in (capture(_call(result=text))[0].result or "")


def test_what_no_other_program_could_write_is_replaced():
    entry = capture(_entry(Kind.USER, text="a\ud83d b\0c"))[0]
    assert entry.text == "a\ufffd b\ufffdc"
    entry.text.encode()


def test_reasoning_becomes_a_fixed_marker():
    assert capture(_entry(Kind.REASONING, text="hm"))[0].text == REASONING


def test_only_tool_text_is_shortened_and_the_number_left_out_is_true():
    long = "a b" * 5000
    assert capture(_entry(Kind.USER, text=long))[0].text == long
    entry = capture(_call(long, long))[0]
    for text in (entry.arguments, entry.result or ""):
        numbers = re.findall(r"… \[(\d+) characters left out\] …", text)
        assert numbers == [str(len(long) - TOOL_LIMIT)]
        assert text.startswith(long[:2048])
        assert text.endswith(long[-2048:])


def test_a_result_that_never_came_stays_none():
    assert capture(_call("{}"))[0].result is None


def test_a_text_at_the_limit_is_whole_and_one_more_is_not():
    assert shorten("x" * 300, 300) == "x" * 300
    assert "[1 characters left out]" in shorten("x" * 301, 300)


_TEXT = st.lists(
    st.sampled_from(
        [BLOCK, opening("a", "none"), TOKEN, "password: ", "hunter22", "\ud800", "\0", "a" * 2050, "word ",
         "\n… [7 characters left out] …\n", "<!-- reflector:", '"', "é", "\n"]
    )
    | st.text(max_size=5),
    max_size=12,
).map("".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(Kind), _TEXT, _TEXT)
def test_capturing_twice_changes_nothing(kind, one, other):
    entry = _call(one, other) if kind is Kind.TOOL_CALL else _entry(kind, text=one)
    once = capture(entry)[0]
    assert capture(once) == (once, {})
