"""What a text is searched by: words, names and numbers in any script, whole and in parts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflector.core.tokens import LONGEST, asked, satisfied, terms

SAID = (
    *(
        "maxRetries",
        "ABC-123",
        "v2.45.0",
        "src/a.py",
        "缓存",
        "배포",
        "キャッシュ",
        "ﾔﾏﾀﾞ",
        "猫",
        "C++",
    ),
    *("don't", "É", "İ", "ǅ", "a.b", "1.2", "..", "'", "_", "e\u0301", "ß", "x" * 90),
)
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(SAID), max_size=6).map(" ".join)


@given(TEXTS)
@example("İstanbul")
@example("1.2.3.4.5.6.7.8")
@settings(deadline=None)
def test_what_a_text_says_is_found_by_the_same_words(text):
    present = set(terms(text))
    assert all(satisfied(term, present) for term in asked(text))


@given(TEXTS)
@settings(deadline=None)
def test_a_term_is_a_term_of_itself(text):
    assert all(term in set(terms(term)) for term in terms(text))


@given(TEXTS)
@settings(deadline=None)
def test_a_term_holds_nothing_that_an_index_could_take_for_syntax(text):
    for term in terms(text):
        assert 0 < len(term) <= LONGEST
        assert all(char.isalnum() or char == "." or char > "\x7f" for char in term)
        assert not term.startswith(".")


@given(TEXTS)
@settings(deadline=None)
def test_how_characters_are_composed_makes_no_difference(text):
    composed = unicodedata.normalize("NFC", text)
    assert list(terms(composed)) == list(terms(unicodedata.normalize("NFD", composed)))


@given(st.text("abcdefgilnsty", min_size=1, max_size=12))
@settings(deadline=None)
def test_an_ending_is_taken_off_the_same_way_in_text_and_query(word):
    assert set(asked(word)) == set(terms(word))


@pytest.mark.parametrize(
    ("written", "asked_for"),
    [
        ("maxRetryCount", "max_retry_count"),
        ("max-retry-count", "maxRetryCount"),
        ("normalizeSku", "normalize_sku"),
        ("HTTPServer", "http server"),
        ("PAY-4312: refund", "pay-4312"),
        ("PAY4312", "PAY-4312"),
        ("error[E0502]: cannot", "E0502"),
        ("upgrade to v2.45.0 today", "2.45.0"),
        ("upgrade to 2.45.0", "v2.45"),
        ("see src/shop/types.py", "shop/types.py"),
        ("see src/shop/types.py", "types.py"),
        ("java.lang.OutOfMemoryError", "OutOfMemoryError"),
        ("java.lang.OutOfMemoryError", "java.lang.OutOfMemoryError"),
        ("the caches are rotated", "cache rotation"),
        ("a café", "CAFE"),
        ("C++ and C#", "c++"),
        ("0x80070005", "0X80070005"),
        ("Don’t", "don't"),
        ("缓存穿透的处理", "穿透"),
        ("生产机叫黑猫。", "猫"),
        ("氏名はﾔﾏﾀﾞです", "ヤマダ"),
        ("デプロイの手順", "手順"),
        ("배포 절차를 본다", "절차"),
        ("Redis缓存", "缓存 redis"),
        ("ＡＢＣ－１２３", "abc-123"),
        ("用Kubernetes部署", "kubernetes"),
    ],
)
def test_two_ways_to_write_one_thing_meet(written, asked_for):
    present = set(terms(written))
    assert [term for term in asked(asked_for) if not satisfied(term, present)] == []


@pytest.mark.parametrize(
    ("written", "asked_for"),
    [("1.23", "12.3"), ("PAY-4312", "PAY-4313"), ("C++", "C#"), ("缓存", "存缓")],
)
def test_two_different_things_stay_apart(written, asked_for):
    present = set(terms(written))
    wanted = list(asked(asked_for))
    assert not satisfied(wanted[0], present)


def test_words_that_every_question_holds_are_asked_for_only_alone():
    assert list(asked("how do I rotate the keys?")) == ["rotat", "key"]
    assert list(asked("who are you")) == ["who", "are", "you"]


def test_each_term_knows_the_word_it_comes_from():
    assert asked("set max_retries") == {
        "set": "set",
        "maxretry": "max_retries",
        "max": "max_retries",
        "retry": "max_retries",
    }


def test_a_blob_is_one_term_and_not_thousands():
    assert len(list(terms("deadbeef01" * 500))) <= 2
    assert list(asked("")) == list(asked("?! … 🚀")) == []
