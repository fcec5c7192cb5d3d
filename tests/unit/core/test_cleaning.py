from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.cleaning import clean, clean_values, suspicious
from reflector.core.redact import redact
from tests.support.secret_samples import ALNUM, CAUGHT, FIELDS, WAYS_TO_SAY_IT

TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.mark.parametrize("rule", CAUGHT)
def test_whatever_a_rule_finds_makes_a_text_suspicious(rule):
    for way in WAYS_TO_SAY_IT:
        for secret in CAUGHT[rule]:
            assert suspicious(way.format(secret))


@pytest.mark.parametrize("form", FIELDS)
def test_whatever_stands_under_a_key_makes_a_text_suspicious(form):
    for value in ("aB3" + "xK9-wQ2mZ7pL5tR8", "hunter" + "2long"):
        text = form.format(value)
        assert suspicious(text) or redact(text).text == text


_PIECES = st.sampled_from(
    ["password", "token", ": ", "=", '"', "\\", " ", "\n", "sk-", "ghp_", ALNUM[:9], ALNUM,
     "Bearer ", "://", "@", "user", "AKIA", "eyJ", ".", "hunter22", "key", "whsec_", "+/", "pat"]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=4), max_size=20).map("".join))
def test_a_text_that_is_not_suspicious_holds_nothing(text):
    assert suspicious(text) or redact(text).text == text
    assert clean(text) == redact(text).text


def test_ordinary_short_text_loads_no_rules():
    for text in ("3 runs", "reflector status", "/home/me/shop", "Run 20261130 is merged", ""):
        assert not suspicious(text)


def test_values_are_cleaned_together_and_keys_stay():
    value = "Zx9Yw8" + "Vu7Ts6"
    form = {
        "token": 3,
        "rows": [{"text": f"password: {value}", "n": None}, [f"bad {value}", True]],
        "path": f"/x/{TOKEN}",
        "kept": "kept",
    }
    assert clean_values(form) == {
        "token": 3,
        "rows": [
            {"text": "password: [REDACTED:password-field]", "n": None},
            ["bad [REDACTED:password-field]", True],
        ],
        "path": "/x/[REDACTED:github]",
        "kept": "kept",
    }


def test_values_without_a_secret_are_given_back_as_they_are():
    form = {"a": [1, "two", {"b": None}]}
    assert clean_values(form) is form


def test_a_block_across_two_values_is_not_joined():
    form = {"a": "-----BEGIN RSA PRIVATE" + " KEY-----", "b": "-----END RSA PRIVATE" + " KEY-----"}
    assert json.loads(json.dumps(clean_values(form))) == form
