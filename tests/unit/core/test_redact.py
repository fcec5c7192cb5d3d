from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.redact import find_secrets, marker, redact, redact_record
from reflector.core.secret_rules import PREFIXED

GOLDEN = Path(__file__).parents[2] / "golden" / "redaction.jsonl"

# Secrets are put together here, so that no file holds one.
ALNUM = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
PEM = "PRIVATE" + " KEY"

CAUGHT = {
    "provider": ["sk-" + ALNUM, "sk-" + "proj-" + ALNUM[:20] + "_-" + ALNUM, "pk_" + ALNUM[:24]],
    "anthropic": ["sk-" + "ant-api03-" + ALNUM + "-" + ALNUM + "AA"],
    "aws": ["AKIA" + "J7Q2M5K3P4R6S2T3", "ASIA" + "J7Q2M5K3P4R6S2T3"],
    "github": ["gh" + kind + "_" + ALNUM[:36] for kind in "pousr"]
    + ["github" + "_pat_" + ALNUM[:22] + "_" + ALNUM],
    "gitlab": ["glpat" + "-" + ALNUM[:20]],
    "npm": ["npm" + "_" + ALNUM[:36]],
    "pypi": ["pypi" + "-AgEIcHlwaS5vcmc" + ALNUM * 2],
    "slack": ["xoxb" + "-123456789012-" + ALNUM[:24], "xapp" + "-1-A0-" + ALNUM],
    "google": ["AIza" + ALNUM[:35], "ya29" + "." + ALNUM],
    "hugging-face": ["hf" + "_" + ALNUM[:34]],
    "stripe": [kind + "_live_" + ALNUM[:24] for kind in ("sk", "rk", "pk")]
    + ["sk" + "_test_" + ALNUM[:24]],
    "jwt": ["eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + ALNUM],
    "sendgrid": ["SG" + "." + ALNUM[:22] + "." + ALNUM + "abc"],
    "digitalocean": ["dop" + "_v1_" + HEX * 2],
    "shopify": ["shpat" + "_" + HEX],
    "vault": ["hvs" + "." + ALNUM],
    "linear": ["lin" + "_api_" + ALNUM],
    "notion": ["ntn" + "_" + ALNUM + "abcd"],
    "grafana": ["glsa" + "_" + ALNUM],
    "sentry": ["sntrys" + "_" + ALNUM + ALNUM],
    "atlassian": ["ATATT3" + ALNUM + ALNUM],
    "postman": ["PMAK" + "-" + HEX[:24] + "-" + HEX + "ab"],
    "age": ["AGE-SECRET" + "-KEY-1" + "Q2W3E4R5T6" * 5 + "ABCDEFGH"],
}
WAYS_TO_SAY_IT = [
    "{}", "use {} here", "K={}", '"{}"', "'{}'", "({})", "x:{},", r'{{"content":"a\n{}\nb"}}',
    "https://host/?key={}", r"a\u003d{}", "k%3D{}", "\x1b[32m{}\x1b[0m", "[{}](x)", "`{}`.",
]  # fmt: skip
FIELDS = [
    "password: {}", "Password = {}", "PASSWORD={}", "DB_PASSWORD='{}'", 'dbPassword: "{}",',
    "token={}", "token={}&user=bob", "access_token: {}", '"api_key": "{}"', "'apiKey' => '{}'",
    "API-KEY: {}", "x-api-key: {}", "client_secret={}", r'{{\"secret\": \"{}\"}}',
    'password: str = "{}"', "Authorization: Bearer {}", "authorization: Basic {}",
    'curl -H "Authorization: token {}"', "Bearer {}", "--password {}", "--api-key={}",
    "<password>{}</password>", "my password is {}", "**Password:** {}", "`token`: `{}`",
    'config["secret"] = "{}"', "postgres://app:{}@db/x", "https://{}@example.com/x",
    "aws_secret_access_key = {}", "SECRET_KEY_BASE={}", "passphrase: {}", "pwd={}",
    "if password == '{}':",
]  # fmt: skip
UNTOUCHED = [
    "commit 3f2a9c1d0b8e7f6a5c4d3e2f1a0b9c8d7e6f5a4b", "0190aa00-7c1e-7b4e-9f00-1234567890ab",
    "sha256:" + "9f86d081884c7d659a2feaa0c55ad015" * 2, "sha512-" + ALNUM * 2 + "==",
    "a risk-based-decision-making-approach", "task-0190aa0007c1e", "desk-standing-0123456789abcd",
    "mas" + "k-ABCdef" + "0123456789ABCdef0123", "reflector.runtime.supervisor.launch_detached_process",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE",
    "token: ${GITHUB_TOKEN}", "token: <your-key>", "api_key=<your-key>", "TOKEN=$TOKEN",
    "password: {{ password }}", "password = os.environ['PASSWORD']", "token = process.env.TOKEN",
    "token = get_token(user1)", "const token = await getToken(user2)", "password: str",
    "your password: must be at least 12 characters", 'password: "must be 12 characters long"',
    "Password: required", "the token: it expires after 3600 seconds", "max_tokens=4096",
    "tokens: 120000", "token_count: 12345678", "tokenizer = Tokenizer32()", '"token": null',
    "password=password", "password=self.password1", "token: Optional[str] = None", "password: ****",
    "api_key: xxxxxxxxxxxxxxxx", "api_key = YOUR_API_KEY", "key: value12345", "primary_key=id12345",
    "Bearer authentication is used", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN",
    "secret: true", "git@github.com:a/b.git", "https://example.com:8080/a@b", "sk-learn",
    "postgres://user:${PASSWORD}@db/x", "http://user:password@host/", "PWD=/home/person/project1",
    "socks5h://<username>:<password>@proxy-host1",
    "sk-learn-compatible-estimator-classes-and-more-words", "basic token handling",
    "the secret_name_of_this_kubernetes_object", 'label: "login.password.hint"',
]  # fmt: skip


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
    for secret in CAUGHT[rule]:
        found = redact(way.format(secret))
        assert secret not in found.text, found.text
        assert found.text == way.format(marker(rule))
        assert found.counts == {rule: 1}


def test_every_rule_of_the_table_has_a_name_that_announces_nothing():
    for rule in PREFIXED:
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
     "--", "is", "https://", ALNUM[:23] + "@", "@host", "é", "密", "\ud800"]
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
