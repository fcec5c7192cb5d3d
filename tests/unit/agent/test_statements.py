from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.agent.own_words import Reason
from reflector.agent.statements import MAX_STATEMENT, find_statements, read


def texts(message: str) -> list[str]:
    return [one.text for one in find_statements(message)]


def reasons(message: str) -> list[Reason]:
    reading = read(message)
    assert reading.statements == ()
    return [one.reason for one in reading.skipped]


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ("never rebase shared branches.", "preference", "Never rebase shared branches"),
        ("remember that port 9090 is the proxy", "fact", "Port 9090 is the proxy"),
        ("We decided to keep SQLite.", "decision", "We decided to keep SQLite"),
        ("no, use ruff not flake8", "correction", "Use ruff not flake8"),
        ("永远不要提交密钥", "preference", "永远不要提交密钥"),
        ("今後はsudoを使わないでください", "preference", "今後はsudoを使わないでください"),
        ("requests 대신 httpx를 사용하세요", "correction", "requests 대신 httpx를 사용하세요"),
    ],
)
def test_an_explicit_statement_is_found_with_its_kind(message: str, kind: str, text: str):
    (found,) = find_statements(message)
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("should we always rebase? always rebase?", "question"),
        ('the text is "never rebase shared branches" there', "quotation"),
        ("> never rebase shared branches", "block quotation"),
        ("```\nnever rebase shared branches\n```", "code block"),
        ("2026-11-30 10:00:00 never rebase shared branches", "log or trace"),
        ("maybe we should always rebase", "hypothetical"),
        ("no, never mind", "taken back"),
        ("never rebase this branch for now", "one-off task"),
        ("- always a\n- never b\n- always use c\n- always use d", "list"),
        ("[Request interrupted by user]", "harness message"),
        ("Implement the following plan:\n\nalways use tabs", "pasted text"),
        ("always use the key [REDACTED:github]", "redacted text"),
        ("according to them we should always rebase", "said by somebody else"),
        ("always use " + "tabs and spaces and " * 30, "too long"),
    ],
)
def test_what_only_looks_like_a_statement_is_skipped_with_its_reason(message: str, reason: Reason):
    assert reason in reasons(message)


def test_a_statement_among_task_talk_is_found_with_its_line():
    message = "fix the login page please.\n\nAlso, always use the freezer in tests."
    (found,) = find_statements(message)
    assert (found.text, found.line) == ("Always use the freezer in tests", 3)


def test_a_bare_no_belongs_to_the_sentence_after_it():
    assert texts("No. Use tabs, not spaces.") == ["No. Use tabs, not spaces"[4:]]


def test_a_trailing_request_to_remember_belongs_to_the_sentence_before_it():
    assert texts("本番DBは読み取り専用です。覚えておいてください。") == ["本番DBは読み取り専用です"]


def test_a_condition_is_kept_with_the_rule_that_hangs_on_it():
    assert texts("when you write tests, always use the fake clock") == [
        "When you write tests, always use the fake clock"
    ]


def test_taking_back_drops_what_was_said_before_in_the_same_message():
    assert reasons("always use tabs.\nno wait, never mind") == ["taken back"]


def test_both_sides_of_a_contrast_are_known():
    (found,) = find_statements("use pnpm instead of npm")
    assert (found.chosen, found.rejected) == ("pnpm", "npm")


def test_the_words_before_an_editor_request_are_not_the_persons():
    message = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- never.md: always use it\n\n"
        "## My request for Codex:\nalways use tabs here\n"
    )
    (found,) = find_statements(message)
    assert (found.text, found.line) == ("Always use tabs here", 7)


@pytest.mark.parametrize(
    "message",
    [
        "always use [[system/persona.md]] here",
        "always use <!-- a comment --> here",
        "always write # headings like so",
        "always use [a](http://b) here",
        "always write [entry a:b:0] here",
        "always set $AGENT_ID here",
        "# always use tabs",
        "- # always use tabs",
    ],
)
def test_a_statement_opens_nothing_in_a_document_or_a_commit_message(message: str):
    for text in texts(message):
        assert not text.startswith(("#", "-", ">"))
        for mark in ("[[", "<!--", "](", "[entry ", "$AGENT_ID"):
            assert mark not in text


def test_control_characters_do_not_survive():
    assert texts("always use\u2028tabs\u202e here") == ["Always use tabs here"]


@given(
    st.text(
        alphabet=st.sampled_from("noalwys use,.?!\n`\"'>-#「」。不要用はて아니, "), max_size=400
    )
)
def test_any_statement_is_one_short_line(message: str):
    for one in find_statements("always " + message):
        assert len(one.text) <= MAX_STATEMENT
        assert one.text.splitlines() == [one.text]


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "no, ",
            "always ",
            "use a, not ",
            '"',
            "`a",
            "'a ",
            "> ",
            "- a\n",
            "```\n",
            "a",
            "a. ",
            "。",
        ),
        *("じゃなくて", "기로 했어 ", "不要用 ", "\n", "# a\n", "no.\n", "hm, ", "<a>", "  ", "\0"),
    ],
)
def test_a_megabyte_of_anything_is_read_to_its_end(piece: str):
    for size in (1_000_000, 19_000):
        message = (piece * (size // len(piece) + 1))[:size]
        read(message)  # a pattern that backtracks runs into the time limit of the test
