"""An entry has one identity wherever its record is copied to."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.entry import (
    ConversationKey,
    Entry,
    Kind,
    hashed_entry_id,
    native_entry_id,
    safe_part,
)

# Any text at all: also NUL, control characters and lone surrogates, as JSON can bring them.
ANY = st.text(st.characters(), max_size=120)
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", re.ASCII)


@given(ANY)
def test_a_foreign_id_becomes_something_that_can_stand_anywhere(native):
    safe = safe_part(native)
    assert _SAFE.fullmatch(safe)
    assert ".." not in safe


@given(ANY, ANY)
def test_two_foreign_ids_never_become_one(one, other):
    assert (safe_part(one) == safe_part(other)) == (one == other)


def test_ids_that_differ_only_in_a_lone_surrogate_stay_apart():
    assert len({safe_part(each) for each in ("a?", "a\ud800", "a\udfff")}) == 3


@pytest.mark.parametrize("plain", ["4f1c7a52-0f5e", "msg_01", "a.b", "-x", "toolu_9"])
def test_a_plain_id_stays_as_it_is(plain):
    assert safe_part(plain) == plain


@pytest.mark.parametrize("foreign", ["", "a/b", "a\n", "a..b", ".a", "a b", "ä", "x" * 101])
def test_an_id_that_could_do_harm_is_hashed(foreign):
    assert re.fullmatch("h[0-9a-f]{24}", safe_part(foreign))


def test_a_copied_record_keeps_its_id_and_each_block_has_its_own():
    assert native_entry_id("codex", "r1", 0) == "codex:r1:0"
    assert native_entry_id("codex", "r1", 1) != native_entry_id("codex", "r1", 0)
    assert native_entry_id("codex", "r1", 0) != native_entry_id("claude-code", "r1", 0)


def test_records_without_an_id_are_told_apart_by_conversation_row_ordinal_and_block():
    one, two = ConversationKey("codex", "s"), ConversationKey("codex", "t")
    made = {
        hashed_entry_id(key, row, ordinal, block)
        for key in (one, two)
        for row in ("aa", "bb")
        for ordinal in (0, 1)
        for block in (0, 1)
    }
    assert len(made) == 16
    assert hashed_entry_id(one, "aa", 0, 0) == hashed_entry_id(one, "aa", 0, 0)


def test_a_conversation_is_named_by_harness_session_and_agent():
    assert str(ConversationKey("codex", "s")) == "codex/s"
    assert str(ConversationKey("codex", "s", "a")) == "codex/s/a"


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("text", ["words", "", " \n\t", "\u3000"])
def test_canonical_rows_are_those_in_which_somebody_speaks(kind, text):
    entry = Entry("i", "m", kind, text)
    assert entry.canonical == (kind in (Kind.USER, Kind.ASSISTANT) and text == "words")


@given(ANY, st.sampled_from(Kind), st.none() | ANY)
def test_the_size_is_the_bytes_of_the_serialised_entry(text, kind, result):
    entry = Entry("i", "m", kind, text, tool="t", arguments=text, result=result)
    written = json.dumps(entry.as_json(), ensure_ascii=False)
    assert entry.size == len(written.encode("utf-8", "replace"))


def test_the_json_form_has_the_fields_of_its_kind_only():
    assert Entry("i", "m", Kind.USER, "hello").as_json() == {
        "id": "i",
        "message_id": "m",
        "kind": "user",
        "text": "hello",
    }
    call = Entry("i", "m", Kind.TOOL_CALL, tool="t", arguments="{}", at="2026-11-30T12:00:00.000Z")
    assert call.as_json() == {
        "id": "i",
        "message_id": "m",
        "kind": "tool_call",
        "tool": "t",
        "arguments": "{}",
        "result": None,
        "at": "2026-11-30T12:00:00.000Z",
    }
