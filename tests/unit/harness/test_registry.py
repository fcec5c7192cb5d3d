from __future__ import annotations

import io
import json

import pytest

from reflector.core.errors import UnknownFormatError
from reflector.harness.reading import open_source
from reflector.harness.registry import ADAPTERS, detect, foreign
from tests.support.harness_rows import meta, spoke, user

MESSAGE = {"role": "user", "content": "hello"}
CHUNK = {"type": "message", **MESSAGE}


@pytest.mark.parametrize(
    ("rows", "harness"),
    [
        ([user("u1", "hello")], "claude-code"),
        ([{"type": "summary", "summary": "x", "leafUuid": "y"}], "claude-code"),
        ([{"type": "file-history-snapshot", "messageId": "x"}], "claude-code"),
        ([{"type": "mode", "mode": "normal", "sessionId": "x"}], "claude-code"),
        ([meta()], "codex"),
        ([spoke("user", "hello")], "codex"),
        ([MESSAGE], "jsonl"),
        ([{"session_id": "x"}, MESSAGE], "jsonl"),
        ([CHUNK], "jsonl"),
    ],
)
def test_a_session_is_recognised_by_its_first_rows(rows, harness):
    adapter = detect(rows)
    assert adapter is not None
    assert adapter.harness == harness


def test_every_adapter_has_a_name_of_its_own():
    assert [adapter.harness for adapter in ADAPTERS] == ["claude-code", "codex", "jsonl"]


HOOK = {"session_id": "x", "hook_event_name": "Stop"}


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"type": "session", "version": 3, "id": "x"}], "a pi session"),
        ([{"type": "title", "title": "x"}, {"type": "session", "id": "x"}], "an oh-my-pi session"),
        ([{"type": "session", "id": "x"}, {"type": "agent_start"}], "output of pi --mode json"),
        ([{"sessionId": "x", "projectHash": "y"}], "a Gemini CLI session"),
        ([{"type": "init", "session_id": "x"}, CHUNK], "stream-json output of Gemini CLI"),
        (
            [{"type": "system", "subtype": "init", "session_id": "x"}],
            "stream-json output of claude -p",
        ),
        ([{"type": "result", "session_id": "x"}], "output of claude -p"),
        ([{"type": "thread.started", "thread_id": "x"}], "output of codex exec --json"),
        ([HOOK | {"transcript_path": "/h/.claude/x.jsonl"}], "hook input of Claude Code"),
        ([{"in": HOOK | {"transcript_path": "/h/.codex/x.jsonl"}}], "hook input of Codex"),
        ([HOOK | {"transcript_path": "C:\\h\\.gemini\\x"}], "hook input of Gemini CLI"),
        ([HOOK], "hook input"),
        ([{"kind": "MessageEvent", "source": "user", "id": "x"}], "OpenHands events"),
        ([{"id": 1, "source": "agent", "cause": 0}], "OpenHands events of version 0"),
        ([{"sessionID": "x", "part": {}}], "output of opencode run"),
        ([{"info": {"projectID": "x"}, "messages": []}], "an OpenCode export"),
        ([{"trajectory": [], "history": []}], "a SWE-agent trajectory"),
        (
            [{"id": "x", "timestamp": "y", "instructions": None}],
            "a Codex rollout from before September 2025",
        ),
        (
            [{"type": "user", "sessionId": "x", "uuid": "y", "message": {"parts": []}}],
            "a Qwen Code session",
        ),
        ([{"level": "info", "message": "a log"}], ""),
        ([], ""),
    ],
)
def test_what_is_not_read_is_named(rows, name):
    assert foreign(rows) == name
    assert detect(rows) is None


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"sessionId": "x", "projectHash": "y", "messages": []}, "a Gemini CLI session"),
        ({"info": {"id": "ses_x", "projectID": "y"}, "messages": []}, "an OpenCode export"),
        ({"environment": "main", "trajectory": [], "history": []}, "a SWE-agent trajectory"),
        ([{"id": 0, "source": "agent", "action": "run"}], "OpenHands events of version 0"),
        ([1], "a JSON array"),
        ({"a": [1, 2]}, "a single JSON object"),
    ],
)
def test_a_file_of_one_printed_object_is_named_in_the_refusal(content, name):
    data = json.dumps(content, indent=2).encode()
    with pytest.raises(UnknownFormatError, match=f"looks like {name}") as raised:
        open_source(io.BytesIO(data), "file")
    assert raised.value.facts == {"looks_like": name}
    assert "claude-code, codex, jsonl" in raised.value.hint


def test_text_is_named_in_the_refusal():
    with pytest.raises(UnknownFormatError, match="plain text"):
        open_source(io.BytesIO(b"# Notes\n\nhello\n"), "notes")


def test_json_lines_of_no_known_kind_are_refused():
    with pytest.raises(UnknownFormatError, match="nothing we know"):
        open_source(io.BytesIO(b'{"level":"info"}\n{"level":"warn"}\n'), "log")


@pytest.mark.parametrize("kind", [[], {}, None, 5])
def test_a_type_that_is_no_text_is_no_surprise(kind):
    assert detect([{"type": kind, "role": kind, "sessionId": "x", "payload": {}}]) is None
