from __future__ import annotations

import io
import json

import pytest

from reflector.core.entry import ConversationKey, Kind
from reflector.harness.reading import About, Appended, Boundary, Hidden, open_source
from tests.support.gemini_rows import journal
from tests.support.harness_rows import read
from tests.support.opencode_rows import (
    SESSION,
    answer,
    export,
    message,
    text,
    tool,
    user_said,
)


def told(*messages, settled=False, seen=None, **info):
    return read(json.dumps(export(*messages, **info)).encode(), read=seen, settled=settled)


def texts(seen):
    return [(entry.kind.value, entry.text or entry.result) for entry in journal(seen)]


def test_a_session_becomes_entries_with_the_ids_of_its_messages_and_parts():
    seen = told(
        user_said("msg_1", "look"),
        answer("msg_2", "I look", tool("c1", "out"), {"type": "step-finish"}),
    )
    asked, said, called = seen.entries
    assert (asked.id, asked.message_id, asked.text) == ("opencode:msg_1:0", "msg_1", "look")
    assert (said.id, said.message_id) == ("opencode:prt_msg_2_0000000000000000:0", "msg_2")
    assert (called.message_id, called.tool, called.arguments) == (
        "msg_2",
        "bash",
        '{"command":"c1"}',
    )
    assert called.result == "out"
    assert called.at == "2026-11-30T10:17:03.076Z"
    assert [(about.cwd, about.title) for about in seen.of(About)] == [
        ("/home/dev/project", "A talk")
    ]


def test_a_title_that_nobody_chose_is_none():
    assert told(title="New session - 2026-11-30T10:17:03.076Z").of(About)[0].title == ""


@pytest.mark.parametrize(
    ("state", "result"),
    [
        ({"metadata": {"exit": 0}}, "out"),
        ({"metadata": {"exit": 3}}, "out\n[exit code 3]"),
        ({"metadata": {"exit": None}}, "out"),
        ({"status": "error", "error": "refused"}, "refused"),
        ({"status": "error"}, "[error]"),
    ],
)
def test_a_result_tells_how_the_call_ended(state, result):
    assert (
        told(
            answer(
                "msg_1",
                "",
                tool("c", "out") | {"state": {"output": "out", "status": "completed"} | state},
            )
        )
        .entries[0]
        .result
        == result
    )


def test_a_call_that_runs_is_held_back_until_its_session_is_settled():
    running = answer("msg_1", "I look", tool("c", status="running"))
    assert texts(told(running)) == [("assistant", "I look")]
    assert texts(told(running, settled=True)) == [("assistant", "I look"), ("tool_call", None)]


def test_an_answer_that_is_still_written_is_held_back():
    begun = answer("msg_2", "Let", completed=False)
    seen = told(user_said("msg_1", "go"), begun)
    assert texts(seen) == [("user", "go")]
    ended = [user_said("msg_1", "go"), answer("msg_2", "Let me look")]
    assert texts(told(*ended, seen=seen)) == [("user", "go"), ("assistant", "Let me look")]
    assert texts(told(begun, settled=True)) == [("assistant", "Let")]
    assert texts(told(begun, user_said("msg_3", "stop"))) == [
        ("assistant", "Let"),
        ("user", "stop"),
    ]


def test_reasoning_and_errors_are_told_apart():
    failed = {"name": "ProviderAuthError", "data": {"message": "no key"}}
    seen = told(
        answer("msg_1", "", {"type": "reasoning", "text": "hm"}, text("yes"), error=failed),
        answer("msg_2", "", error={"name": "MessageAbortedError", "data": {}}),
    )
    assert texts(seen) == [
        ("reasoning", "hm"),
        ("assistant", "yes"),
        ("error", "no key"),
        ("error", "MessageAbortedError"),
    ]


@pytest.mark.parametrize(
    ("parts", "typed"),
    [
        ([text('"change the greeting"')], "change the greeting"),
        ([text('"say \\"hi\\" to them"')], 'say "hi" to them'),
        ([text('"one" and "two"')], '"one" and "two"'),
        ([text('"word"')], '"word"'),
        ([text("a"), text('"b c"')], 'a\n"b c"'),
        ([text("look"), text("Called the Read tool", synthetic=True)], "look"),
        ([text("look"), text("not sent", ignored=True)], "look"),
        ([text("look"), {"type": "file", "filename": "a.png"}], "look\n[file a.png]"),
        ([{"type": "file"}], "[file]"),
        ([{"type": "subtask", "prompt": "count files", "agent": "general"}], "count files"),
        ([{"type": "agent", "name": "general"}, text("look")], "look"),
    ],
)
def test_what_the_person_typed_is_read_without_what_the_program_added(parts, typed):
    assert [entry.text for entry in told(message("msg_1", "user", *parts)).entries] == [typed]


def test_what_only_the_program_added_is_nothing_said():
    assert told(message("msg_1", "user", text("x", synthetic=True)), message("m", "user")).ids == []


def test_a_compaction_is_a_boundary_and_its_summary_no_answer():
    seen = told(
        user_said("msg_1", "go"),
        message("msg_2", "user", {"type": "compaction", "auto": True}),
        answer("msg_3", "All that happened", summary=True),
        answer("msg_4", "and on"),
    )
    assert texts(seen) == [("user", "go"), ("assistant", "and on")]
    assert [record.record for record in seen.of(Boundary)] == ["msg_2"]


def test_the_session_of_a_subagent_belongs_to_its_parent():
    data = json.dumps(export(user_said("msg_1", "count"), parentID="ses_parent")).encode()
    assert open_source(io.BytesIO(data), "x").file_key == ConversationKey(
        "opencode", "ses_parent", SESSION
    )
    (said,) = read(data).of(Appended)
    assert said.parent == ConversationKey("opencode", "ses_parent")


def test_messages_that_the_person_took_back_are_hidden():
    talk = [user_said("msg_1", "keep"), user_said("msg_2", "back"), answer("msg_3", "also")]
    seen = told(*talk)
    assert len(seen.ids) == 3
    again = told(*talk, seen=seen, revert={"messageID": "msg_2"})
    assert texts(again) == [("user", "keep")]
    assert [hidden.message_id for hidden in again.of(Hidden)] == ["msg_2", "msg_3"]
    assert texts(told(*talk, revert={"messageID": "msg_2", "partID": "prt_2"})) == [
        ("user", "keep"),
        ("user", "back"),
    ]


def test_an_export_is_read_from_any_stream_that_seeks():
    data = json.dumps(export(user_said("msg_1", "go")), indent=2).encode()
    source = open_source(io.BufferedReader(io.BytesIO(data)), "stdin")
    assert source.file_key == ConversationKey("opencode", SESSION)


@pytest.mark.parametrize("odd", [None, 5, "text", [], {}, [None, 5, ["x"], {"text": 5}]])
def test_values_of_the_wrong_kind_are_no_surprise(odd):
    seen = told(
        {"info": odd, "parts": odd},
        {"info": {"id": odd, "role": odd, "time": odd}, "parts": odd},
        {"info": {"id": "msg_1", "role": "user", "time": odd}, "parts": odd},
        {"info": {"id": "msg_2", "role": "assistant", "time": odd, "error": odd}, "parts": odd},
        answer("msg_3", "", {"type": "tool", "tool": odd, "callID": odd, "state": odd}),
        answer("msg_4", "", tool("c", status="completed", output=odd, metadata=odd)),
        answer("msg_5", "", {"type": odd, "text": odd, "time": odd}),
        user_said("msg_9", "end"),
        title=odd,
        directory=odd,
        revert=odd,
    )
    assert texts(seen)[-1] == ("user", "end")
    assert seen.entries[-1].kind is Kind.USER
