from __future__ import annotations

import pytest

from reflector.core.entry import ConversationKey, Kind
from tests.support.harness_rows import lines, read

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}


def entries(*rows):
    return read(lines(*rows), stem="chat").entries


def test_openais_form_is_read():
    seen = entries(
        {"role": "system", "content": "be good"},
        {"role": "developer", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "I look", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        {"role": "assistant", "content": None, "function_call": {"name": "pwd", "arguments": "{}"}},
        {"role": "function", "name": "pwd", "content": "/"},
        {"role": "assistant", "reasoning_content": "hm", "content": "done"},
    )
    assert [(entry.kind, entry.text or entry.tool, entry.result) for entry in seen] == [
        (Kind.USER, "go\n[image]", None),
        (Kind.ASSISTANT, "I look", None),
        (Kind.TOOL_CALL, "ls", "a.txt"),
        (Kind.TOOL_CALL, "pwd", "/"),
        (Kind.REASONING, "hm", None),
        (Kind.ASSISTANT, "done", None),
    ]
    assert seen[2].arguments == '{"a": 1}'
    assert seen[1].message_id == seen[2].message_id


def test_anthropics_form_is_read():
    seen = entries(
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "c1", "name": "ls", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "and hurry"},
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "a"}],
                },
            ],
        },
    )
    assert [(entry.kind, entry.text or entry.arguments, entry.result) for entry in seen] == [
        (Kind.USER, "go", None),
        (Kind.REASONING, "hm", None),
        (Kind.ASSISTANT, "I look", None),
        (Kind.TOOL_CALL, '{"a":1}', "a"),
        (Kind.USER, "and hurry", None),
    ]


@pytest.mark.parametrize("name", ["session_id", "conversation_id"])
def test_the_first_row_names_the_session_else_the_file_does(name):
    row = {"role": "user", "content": "go"}
    named = read(lines({name: "talk"}, row)).lasting
    assert named[0].key == ConversationKey("jsonl", "talk")
    assert read(lines(row), stem="chat").lasting[0].key == ConversationKey("jsonl", "chat")


@pytest.mark.parametrize("name", ["id", "message_id", "uuid"])
def test_an_id_of_the_row_is_its_identity_within_the_conversation(name):
    row = {"role": "user", "content": "go", name: "7"}
    assert read(lines(row), stem="chat").ids == ["jsonl:chat.7:0"]
    assert read(lines(row), stem="talk").ids == ["jsonl:talk.7:0"]


@pytest.mark.parametrize(
    ("time", "at"),
    [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02T03:04:05.678912+02:00", "2026-01-02T01:04:05.678Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"),
        (1767323045, "2026-01-02T03:04:05.000Z"),
        (1767323045.5, "2026-01-02T03:04:05.500Z"),
        (1767323045678, "2026-01-02T03:04:05.678Z"),
        ("2026-13-02T03:04:05.678Z", ""),
        ("yesterday", ""),
        (1e300, ""),
        (True, ""),
        ([], ""),
    ],
)
@pytest.mark.parametrize("name", ["timestamp", "created_at"])
def test_every_usual_time_is_read_and_every_other_is_none(name, time, at):
    assert entries({"role": "user", "content": "go", name: time})[0].at == at


@pytest.mark.parametrize("content", [None, 5, {}, [], [None], [{"type": "text"}]])
def test_rows_of_an_odd_shape_do_no_harm(content):
    odd = [{"role": role, "content": content} for role in ("user", "assistant", "tool")]
    seen = entries({"role": "user", "content": "first"}, *odd, {"role": "user", "content": "last"})
    assert (seen[0].text, seen[-1].text) == ("first", "last")
