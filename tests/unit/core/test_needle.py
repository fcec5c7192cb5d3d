"""What is to be forgotten is found in every form in which it may have been written."""

from __future__ import annotations

import html
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import UsageError
from reflector.core.needle import matching, passages, without

TEXT = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029"),
    min_size=2,
    max_size=12,
)


@given(TEXT)
def test_a_passage_is_found_however_it_was_written(text):
    needle = passages([text])
    forms = [
        text,
        json.dumps(text),
        json.dumps(text, ensure_ascii=False),
        json.dumps(json.dumps(text)),
        json.dumps({"arguments": json.dumps({"inner": text})}, ensure_ascii=False),
        html.escape(text),
        html.escape(text, quote=False),
        unicodedata.normalize("NFD", text),
        unicodedata.normalize("NFC", text),
    ]
    for form in forms:
        assert needle.within(b"before " + form.encode() + b" after"), form


@given(st.lists(TEXT, max_size=6), TEXT)
def test_lines_without_it_stay_letter_for_letter(lines, wanted):
    kept = without(passages([wanted]), "\n".join(lines))
    assert (
        kept.split("\n")
        == [line for line in lines if all(form not in line for form in (wanted, *_both(wanted)))]
        or kept == ""
    )


def _both(text):
    return [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]


def test_a_passage_over_several_lines_takes_all_of_them():
    assert without(passages(["b\nc"]), "a\nxb\ncx\nd\nb\n") == "a\nd\nb\n"


def test_every_place_in_a_text_goes():
    assert without(passages(["x"]), "x\na\nx\nxx\nb\nx") == "a\nb"


def test_an_expression_is_bounded_and_finds_what_it_says():
    needle = matching(r"token-[0-9]+x?")
    assert needle.within(b"a token-4711 b")
    assert not needle.within(b"a token- b")
    assert without(needle, "a\ntoken-1 is here\nb") == "a\nb"


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "a*a*a*b",
        "(?=a)b",
        r"(a)\1",
        r"\1",
        "a++",
        "a{2}{3}",
        "x{0,9999}y{0,9}",
        "|*",
        "[a-z]+@[a-z]+",
        "a{",
        "[a",
        "(?i)a",
    ],
)
def test_what_might_take_longer_than_linear_time_is_refused(pattern):
    with pytest.raises(UsageError):
        matching(pattern)


@pytest.mark.parametrize("pattern", ["a*", "", "x?", "a|"])
def test_what_fits_every_text_is_refused(pattern):
    with pytest.raises(UsageError, match="fits every text"):
        matching(pattern)


@pytest.mark.parametrize(
    "pattern", [r"a{3,5}", r"[^\]]x", r"[]x]+", r"\d{4}-\d{2}", r"a\.b", "falcon|eagle", "^x$"]
)
def test_the_allowed_forms_mean_what_they_mean_elsewhere(pattern):
    found = matching(pattern).expression
    assert found is not None
    for text in ("aaaa", "ax", "]x", "2026-11", "a.b", "a_b", "eagle", "x"):
        assert bool(found.search(text)) == bool(re.search(pattern, text)), text


def test_a_passage_found_nowhere_leaves_a_text_alone():
    assert without(passages(["zz"]), "a\r\nb") == "a\r\nb"
    assert passages([]).nothing
    assert not passages([]).within(b"anything")


def test_anchors_mean_lines():
    needle = matching("^x$")
    assert needle.within(b"a\nx\nb")
    assert without(needle, "ax\nx\nxb") == "ax\nxb"
