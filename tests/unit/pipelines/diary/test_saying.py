"""What a person names is found in whole words, and only in what a record says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.diary.saying import Named, holds, texts, words


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("tea", "We had tea."),
        ("tea", "Tea-time, and the tea's cold."),
        ("TEA", "tea"),
        ("tea", "(tea)"),
        ("tea", "我们喝tea了"),
        ("made us", "It made\n  us laugh."),
        ("café", "A café by the sea."),
        ("cafe\u0301", "A café by the sea."),
        ("straße", "STRASSE"),
        ("茶", "喝茶去"),
        ("커피", "커피를 마셨다"),
        ("c++", "c++11"),
        ("tea", "team, then tea"),
        ("na na", "xna na na"),
        (" tea ", "tea"),
    ],
)
def test_words_are_found_as_words(wanted, text):
    assert words(wanted).said(text)
    assert words(wanted).inside(text)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("tea", "The team."),
        ("tea", "A steam engine."),
        ("tea", "Tea2 and tea_pot"),
        ("ed us", "It made us laugh, moved us, and fed using."),
        ("cafe", "A cafe\u0301 by the sea."),
        ("क", "कि"),
        ("5", "50"),
        ("coffee", "tea"),
    ],
)
def test_letters_within_a_longer_word_are_no_word(wanted, text):
    assert not words(wanted).said(text)


def test_what_is_only_inside_a_longer_word_is_told_apart_from_nothing():
    assert words("tea").inside("The team.")
    assert not words("tea").inside("The crew.")


@pytest.mark.parametrize("text", ["", "anything", "\n"])
def test_no_words_are_said_by_nothing(text):
    assert Named().nothing
    assert not Named().said(text)
    assert not Named().within(text.encode())


def test_a_record_says_what_its_fields_say_and_nothing_by_its_form():
    record = {"kind": "chat", "text": "a\ntea", "tags": ["kettle"], "id": "chat", "turn": 3}
    raw = json.dumps(record).encode()
    assert list(texts(raw)) == ["a\ntea", "kettle"]
    assert holds(words("tea"), raw)
    assert holds(words("kettle"), raw)
    assert not any(holds(words(each), raw) for each in ("chat", "kind", "text", "turn", "ntea"))
    assert holds(words("chat"), raw, ("id",))


@pytest.mark.parametrize(
    "raw", [b"tea: \xff", b'{"text": "tea', b'["tea"]', b"[" * 99_999 + b" tea"]
)
def test_what_is_no_record_says_all_that_it_holds(raw):
    assert holds(words("tea"), raw)


def test_where_words_stand_in_a_page_is_told_for_what_was_typed():
    page = "- team\n- Tea\n- the\n  tea\n"
    assert [page[at:end] for at, end in words("tea").spans(page)] == ["Tea", "tea"]
    assert [page[at:end] for at, end in words("the tea").spans(page)] == ["the\n  tea"]


letters = st.text("aäb茶 \n", min_size=1, max_size=12)


@given(before=letters, wanted=letters, after=letters)
def test_between_blanks_whatever_it_is_is_found(before, wanted, after):
    if wanted.strip():
        assert words(wanted).said(f"{before} {wanted} {after}")


@given(text=st.text("aäb茶 \n", max_size=12), wanted=letters)
def test_what_stands_in_a_text_is_said_by_it(text, wanted):
    found = words(wanted)
    spans = list(found.spans(text)) if wanted.strip() else []
    assert not spans or found.said(text)
    assert not found.said(text) or found.inside(text)
