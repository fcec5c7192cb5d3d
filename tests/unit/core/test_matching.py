"""Where a query's words stand in a text, and the passage that shows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.matching import EXCERPT, excerpt, matched, why, without_repeat
from reflector.core.tokens import asked
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


def test_the_words_are_named_by_field_as_they_were_asked_for():
    fields = {"path": "reference/build", "text": "Rotate the keys.", "heading": "none"}
    assert why(fields, asked("key rotation build")) == "path: build; text: key, rotation"
    assert why({"text": "nothing"}, asked("keys")) == ""


def test_many_words_are_counted_and_long_ones_cut():
    words = " ".join(f"word{letter}" for letter in "abcdefghijkl")
    assert why({"text": words}, asked(words)).endswith("wordh and 4 more")
    long = "y" * 200
    assert len(why({"text": long}, asked(long))) < 80


def test_the_passage_with_the_most_words_is_shown():
    text = "First line.\n\nAnother one about keys.\nRotate the keys monthly.\nThe end."
    assert excerpt(text, asked("rotate keys")) == "…Rotate the keys monthly. The end."


def test_a_secret_is_taken_out_before_the_passage_is_cut():
    text = "part/" * 29 + TOKEN  # what has no blanks is cut where it gets too long
    shown = excerpt(text, asked("part"))
    assert shown.startswith("part/part")
    assert not any(TOKEN[at : at + 12] in shown for at in range(len(TOKEN) - 12))


@given(st.text(max_size=2000), st.text(max_size=20), st.integers(20, EXCERPT))
@settings(deadline=None)
def test_an_excerpt_is_one_bounded_line_that_drives_no_terminal(text, query, limit):
    shown = excerpt(text, asked(query), limit)
    assert len(shown) <= limit
    assert not set(shown) & set("\n\r\t\x1b\x9b\u202e\u2066\u2028\x00")


def test_a_long_text_is_looked_at_only_as_far_as_it_matters():
    assert excerpt("word " * 40_000 + "needle", asked("word")).startswith("word word")


def test_a_wide_character_is_found_inside_a_run():
    assert matched("生产机叫黑猫。", asked("猫")) == ("猫",)


@pytest.mark.parametrize(
    ("about", "text", "left"),
    [
        ("gateway: port is 8443…", "port is 8443 since the move", "gateway"),
        ("gateway: port is 8443 since", "port is…", "gateway"),
        ("port is 8443", "port is 8443 since the move", ""),
        ("How to rotate keys", "1. Take the old one out.", "How to rotate keys"),
        ("Note: keys", "", "Note: keys"),
    ],
)
def test_what_a_description_and_its_text_both_say_is_said_once(about: str, text: str, left: str):
    assert without_repeat(about, text) == left
