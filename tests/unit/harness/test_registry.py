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
        ([{"id": "x", "timestamp": "y", "instructions": None}], "codex"),
        ([{"type": "session", "version": 3, "id": "x"}], "pi"),
        ([{"type": "title", "title": "x"}, {"type": "session", "id": "x"}], "pi"),
        ([{"sessionId": "x", "projectHash": "y"}], "gemini-cli"),
        ([{"info": {"projectID": "x"}, "messages": []}], "opencode"),
        ([{"kind": "MessageEvent", "source": "user", "id": "x"}], "openhands"),
        ([{"id": 1, "source": "agent", "observation": "run", "cause": 0}], "openhands"),
        ([{"trajectory": [], "history": []}], "swe-agent"),
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
    assert [adapter.harness for adapter in ADAPTERS] == [
        *("claude-code", "codex", "gemini-cli", "opencode", "openhands", "pi", "swe-agent"),
        "jsonl",
    ]


HOOK = {"session_id": "x", "hook_event_name": "Stop"}


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"type": "session", "id": "x"}, {"type": "agent_start"}], "output of pi --mode json"),
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
        ([{"sessionID": "x", "part": {}}], "output of opencode run"),
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
        ([1], "a JSON array"),
        ({"a": [1, 2]}, "a single JSON object"),
    ],
)
def test_a_file_of_one_printed_object_is_named_in_the_refusal(content, name):
    data = json.dumps(content, indent=2).encode()
    with pytest.raises(UnknownFormatError, match=f"looks like {name}") as raised:
        open_source(io.BytesIO(data), "file")
    assert raised.value.facts == {"looks_like": name}
    assert "gemini-cli, opencode, openhands, pi, swe-agent, jsonl" in raised.value.hint


def test_one_event_of_openhands_is_refused_with_what_to_do_about_it():
    event = {"id": "x", "source": "user", "kind": "MessageEvent"}
    for data in (json.dumps(event), json.dumps(event, indent=2)):
        with pytest.raises(UnknownFormatError, match="one event of OpenHands") as raised:
            open_source(io.BytesIO(data.encode()), "event-00000-x", "events")
        assert "cat events/*" in raised.value.hint
    assert open_source(io.BytesIO(json.dumps(event).encode()), "talk").harness == "openhands"


def test_a_prompt_log_is_no_session():
    log = [{"sessionId": "x", "messageId": 0, "type": "user", "message": "hello"}]
    with pytest.raises(UnknownFormatError, match="the prompt log of Gemini CLI"):
        open_source(io.BytesIO(json.dumps(log, indent=2).encode()), "logs")


def test_text_is_named_in_the_refusal():
    with pytest.raises(UnknownFormatError, match="plain text"):
        open_source(io.BytesIO(b"# Notes\n\nhello\n"), "notes")


def test_json_lines_of_no_known_kind_are_refused():
    with pytest.raises(UnknownFormatError, match="nothing we know"):
        open_source(io.BytesIO(b'{"level":"info"}\n{"level":"warn"}\n'), "log")


@pytest.mark.parametrize("kind", [[], {}, None, 5])
def test_a_type_that_is_no_text_is_no_surprise(kind):
    assert detect([{"type": kind, "role": kind, "sessionId": "x", "payload": {}}]) is None
