from __future__ import annotations

import json

import pytest

from reflector.harness.reading import Position
from tests.support.gemini_rows import journal
from tests.support.harness_rows import read

SYSTEM = {"role": "system", "content": "SETTING: You are", "message_type": "system_prompt"}
TASK = {"role": "user", "content": "Fix the issue", "message_type": "observation"}


def called(text, call, command="ls"):
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    calls = [{"id": call, "type": "function", "function": function}]
    base = {"role": "assistant", "content": text, "thought": text, "action": command}
    return base | {"tool_calls": calls}


def answered(call, text):
    return {"role": "tool", "content": text, "tool_call_ids": [call]}


def commanded(thought, action):
    content = f"{thought}\n```\n{action}\n```"
    return {"role": "assistant", "content": content, "thought": thought, "action": action}


def told(*history, trajectory=(), stem="instance-1", **how):
    document = {"trajectory": list(trajectory), "history": list(history), "info": {}}
    return read(json.dumps(document, indent=2).encode(), stem, **how)


def texts(seen):
    return [(entry.kind.value, entry.text or entry.result) for entry in journal(seen)]


def test_a_history_of_function_calls_becomes_entries():
    seen = told(
        SYSTEM,
        TASK,
        called("I look", "c1"),
        answered("c1", "a.txt"),
        called("", "c1", "cat a.txt"),
        answered("c1", "hello"),
    )
    assert texts(seen) == [
        ("user", "Fix the issue"),
        ("assistant", "I look"),
        ("tool_call", "a.txt"),
        ("tool_call", "hello"),
    ]
    assert [entry.arguments for entry in seen.entries[2:]] == [
        '{"command": "ls"}',
        '{"command": "cat a.txt"}',
    ]
    assert {str(record.key) for record in seen.records} == {"swe-agent/instance-1"}
    assert (seen.skipped, seen.position.resume_at) == (0, 0)


def test_commands_in_the_text_are_calls_and_what_follows_is_their_result():
    seen = told(
        SYSTEM,
        {"role": "user", "content": "a demonstration", "is_demo": True},
        TASK,
        commanded("I look", "ls"),
        {"role": "user", "content": "a.txt"},
        {"role": "assistant", "content": "no command here"},
        {"role": "user", "content": "Your output was not formatted correctly"},
        commanded("Again", "cat a.txt"),
    )
    assert texts(seen) == [
        ("user", "Fix the issue"),
        ("assistant", "I look"),
        ("tool_call", "a.txt"),
        ("assistant", "no command here"),
        ("assistant", "Again"),
    ]
    assert texts(told(TASK, commanded("Again", "ls"), settled=True))[-1] == ("tool_call", None)


def test_thinking_is_reasoning():
    thinking = [{"type": "thinking", "thinking": "hm"}]
    seen = told(TASK, called("I look", "c1") | {"thinking_blocks": thinking})
    assert texts(seen)[1:] == [("reasoning", "hm"), ("assistant", "I look")]


def test_a_trajectory_without_a_history_is_read_from_its_steps():
    step = {"action": "ls", "observation": "a.txt", "response": "r", "thought": "I look"}
    assert texts(told(trajectory=[step])) == [("assistant", "I look"), ("tool_call", "a.txt")]


def test_a_trajectory_that_grows_adds_only_what_is_new():
    talk = [
        TASK,
        called("I look", "c1"),
        answered("c1", "a"),
        called("On", "c2"),
        answered("c2", "b"),
    ]
    once = told(*talk)
    for cut in range(len(talk)):
        seen = told(*talk[:cut])
        assert journal(told(*talk, read=seen)) == journal(once)
        assert isinstance(seen.position, Position)


def test_equal_messages_are_different_entries():
    again = [called("I look", "c1"), answered("c1", "a")]
    assert len(set(told(TASK, *again, *again).ids)) == 5


@pytest.mark.parametrize("odd", [None, 5, "text", [], {}, [None, 5, ["x"], {"text": 5}]])
def test_values_of_the_wrong_kind_are_no_surprise(odd):
    seen = told(
        TASK,
        {"role": odd, "content": odd},
        {"role": "assistant", "content": odd, "tool_calls": odd, "action": odd, "thought": odd},
        {"role": "tool", "content": odd, "tool_call_ids": odd, "tool_call_id": odd},
        {"role": "assistant", "thinking_blocks": odd},
        {"response": odd, "observation": odd, "action": odd},
        called("end", "c9"),
    )
    assert texts(seen)[0] == ("user", "Fix the issue")
    assert ("assistant", "end") in texts(seen)
