"""Where the transcripts of a session's subagents lie."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from reflector.harness.places import Beside, second_places, subagents

CLAUDE = PurePosixPath("/h/.claude/projects/-src/5c0e.jsonl")
GEMINI = PurePosixPath("/h/.gemini/tmp/src/chats/session-2026-11-30T10-19-5c0e.jsonl")


def test_claude_code_has_a_folder_of_the_session_and_once_put_them_beside_it():
    assert subagents("claude-code", CLAUDE, "another") == (
        Beside("/h/.claude/projects/-src/5c0e/subagents", "agent-*.jsonl"),
        Beside("/h/.claude/projects/-src", "agent-*.jsonl", b'"sessionId":"5c0e"'),
    )


def test_gemini_has_a_folder_named_after_the_parent():
    folder = "/h/.gemini/tmp/src/chats/5c0e-77"
    found = subagents("gemini-cli", GEMINI, "5c0e-77")
    assert found == (Beside(folder, "*.jsonl"), Beside(folder, "*.json"))


@pytest.mark.parametrize("session", ["", ".", "..", "a/b", "/etc", "a\0"])
def test_a_session_that_is_no_name_has_no_folder(session):
    assert subagents("gemini-cli", GEMINI, session) == ()


@pytest.mark.parametrize("harness", ["codex", "opencode", "pi", "unheard-of"])
def test_others_keep_them_elsewhere(harness):
    assert subagents(harness, CLAUDE, "s") == ()
    assert second_places("pi", CLAUDE) == ()
