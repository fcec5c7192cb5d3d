from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.redact import find_secrets, marker, redact, redact_record
from reflector.core.secret_rules import BASE64, PLAIN, PREFIXED
from tests.support.secret_samples import ALNUM, CAUGHT, FIELDS, HEX, PEM, UNTOUCHED, WAYS_TO_SAY_IT

GOLDEN = Path(__file__).parents[2] / "golden" / "redaction.jsonl"


def _golden() -> list[dict[str, Any]]:
    return [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", _golden(), ids=lambda case: case["case"])
def test_the_golden_cases_hold(case):
    value = "".join(case["parts"])
    text = case["template"].replace("{}", value)
    assert (value not in redact(text).text) is case["secret"]
    if not case["secret"]:
        assert redact(text).text == text


@pytest.mark.parametrize("way", WAYS_TO_SAY_IT)
@pytest.mark.parametrize("rule", CAUGHT)
def test_a_token_is_caught_however_it_is_written(rule, way):
    if rule == "telegram":  # the number of the bot before it is public
        way = way.replace("{}", "1234567890:{}")
    for secret in CAUGHT[rule]:
        found = redact(way.format(secret))
        assert secret not in found.text, found.text
        assert found.text == way.format(marker(rule))
        assert found.counts == {rule: 1}


def test_every_rule_of_the_table_has_a_sample():
    assert {rule.name for rule in (*PREFIXED, *PLAIN, *BASE64)} == set(CAUGHT)


def test_every_rule_of_the_table_has_a_name_that_announces_nothing():
    for rule in (*PREFIXED, *PLAIN, *BASE64):
        text = f"{marker(rule.name)}: {ALNUM} and {marker(rule.name)} = {ALNUM}"
        assert redact(text).text == text


@pytest.mark.parametrize("form", FIELDS)
def test_a_value_under_a_secret_key_is_caught(form):
    value = "aB3" + "xK9-wQ2mZ7pL5tR8"
    if "https://{}" in form:
        value = value + "0Y4q"
    found = redact(form.format(value))
    assert value not in found.text
    assert found.text.startswith(form.split("{")[0].replace("{{", "{")[:4])
    assert sum(found.counts.values()) == 1


@pytest.mark.parametrize(
    "value", ["hunter" + "2", "hunter2" + "-long", "p@ss" + "!word9", "Tr0ub" + "4dor&3"]
)
def test_short_passwords_are_caught(value):
    for form in ("password: {}", '"password": "{}"', "passwd={}x"):
        assert value.split("&")[0] not in redact(form.format(value)).text


def test_a_private_key_block_is_taken_out_whole():
    body = "\n".join([ALNUM + "abcdefghijklmnopqrstuvwx"] * 12)
    block = f"-----BEGIN RSA {PEM}-----\n{body}\n-----END RSA {PEM}-----"
    assert redact(f"before\n{block}\nafter").text == "before\n[REDACTED:pem]\nafter"
    inline = block.replace("\n", "\\n")
    assert redact(f'{{"k": "{inline}"}}').text == '{"k": "[REDACTED:pem]"}'
    cut = block[: len(block) // 2]
    assert ALNUM not in redact(cut).text


def test_a_mention_of_a_private_key_block_stays():
    text = f'if "-----BEGIN {PEM}-----" in text:\n    fail()\n'
    assert redact(text).text == text


def test_the_secret_beside_an_aws_key_id_goes_too_and_a_commit_id_stays():
    key = "AKIA" + "J7Q2M5K3P4R6S2T3"
    secret = "wJalrXUtnFEMI/" + "K7MDENG+bPxRfiCYzzTESTKEYa"
    commit = "3f2a9c1d0b8e7f6a5c4d3e2f1a0b9c8d7e6f5a4b"
    assert len(secret) == 40
    found = redact(f"{key},{secret},{commit}")
    assert found.text == f"[REDACTED:aws],[REDACTED:aws],{commit}"


@pytest.mark.parametrize("text", UNTOUCHED)
def test_ordinary_text_is_left_alone(text):
    assert redact(text).text == text
    assert redact(text).counts == {}


def test_a_value_under_a_secret_key_goes_everywhere_in_the_text():
    value = "Zx9Yw8" + "Vu7Ts6"
    found = redact(json.dumps({"token": value, "error": f"bad token {value}!"}))
    assert json.loads(found.text) == {
        "token": "[REDACTED:field]",
        "error": "bad token [REDACTED:field]!",
    }
    assert found.counts == {"field": 2}


def test_a_value_under_a_secret_key_goes_everywhere_in_the_record():
    value = "Zx9Yw8" + "Vu7Ts6"
    texts, counts = redact_record([f"login failed for {value}", f"password={value}", "nothing"])
    assert texts == (
        "login failed for [REDACTED:password-field]",
        "password=[REDACTED:password-field]",
        "nothing",
    )
    assert counts == {"password-field": 2}


def test_a_short_value_is_not_spread():
    texts, _ = redact_record(["password: abc12", "abc12 is a name"])
    assert texts[1] == "abc12 is a name"


def test_a_finding_names_kind_and_line_and_never_the_value():
    text = "one\ntwo " + "ghp_" + ALNUM[:36] + "\n\npassword: hunter" + "22\n"
    assert find_secrets(text) == [("github", 2), ("password-field", 4)]


def test_lone_surrogates_and_nul_are_no_obstacle():
    text = "\ud800 \0 ключ 密码 ghp_" + ALNUM[:36] + " \udfff"
    assert redact(text).text == "\ud800 \0 ключ 密码 [REDACTED:github] \udfff"


_PIECES = st.sampled_from(
    ["password", "token", ": ", "=", '"', "'", "\\", " ", "\n", ":", "sk-", "ghp_", ALNUM, ALNUM[:9],
     "Bearer ", "Authorization", "://", "@", "user", "[REDACTED:", "]", "field", "AKIA", "J7Q2M5K3P4R6S2T3",
     f"-----BEGIN {PEM}-----", f"-----END {PEM}-----", "eyJ", ".", "hunter22", "secret", "api_key", "&", "<", ">",
     "--", "is", "https://", ALNUM[:23] + "@", "@host", "é", "密", "\ud800",
     "SK" + HEX, "whsec_", "+/", "a8Q~", ALNUM[:32], "123456:AA", ALNUM[:33], "sha256~", "dp.pt.", "pat", "sm_pat_",
     "EAAAE", ".atlasv1.", "_mmk", "ops_eyJ", "hooks.slack.com/services/", "1//0", "4b1d"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_redacting_twice_changes_nothing(text):
    once = redact(text).text
    again = redact(once)
    assert again.text == once
    assert again.counts == {}


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_nothing_grows_beyond_its_markers(text):
    found = redact(text)
    room = sum(len(marker(rule)) * count for rule, count in found.counts.items())
    assert len(found.text) <= len(text) + room
