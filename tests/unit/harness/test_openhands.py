from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.harness.reading import Boundary
from tests.support.gemini_rows import journal
from tests.support.harness_rows import lines, read, read_growing

AT = "2026-06-16T05:39:18.809928"


def event(kind, native, source="agent", **more):
    return {"id": native, "timestamp": AT, "source": source, "kind": kind} | more


def spoke(native, text, source="user", **more):
    content = [{"type": "text", "text": text}]
    role = "user" if source == "user" else "assistant"
    message = {"role": role, "content": content} | more
    return event("MessageEvent", native, source, llm_message=message)


def acted(native, call, thought="", **more):
    told = [{"type": "text", "text": thought}] if thought else []
    given = {"name": "terminal", "arguments": '{"command":"ls"}'}
    base = {"thought": told, "tool_name": "terminal", "tool_call_id": call, "tool_call": given}
    return event("ActionEvent", native, **(base | {"action": {"kind": "TerminalAction"}} | more))


def observed(native, call, text, **more):
    seen = {"kind": "TerminalObservation", "content": [{"type": "text", "text": text}]} | more
    return event("ObservationEvent", native, "environment", tool_call_id=call, observation=seen)


def texts(seen):
    return [(entry.kind.value, entry.text or entry.result) for entry in journal(seen)]


def test_events_become_entries_under_their_own_ids():
    seen = read(
        lines(
            event("ConversationStateUpdateEvent", "s1", "environment", key="stats", value={}),
            event("SystemPromptEvent", "p1", system_prompt={"text": "You are"}),
            spoke("u1", "list them"),
            acted("a1", "c1", "<think>hm</think>\n\nI look", reasoning_content="hm"),
            observed("o1", "c1", "a.txt", exit_code=0),
            acted("a2", "c2", llm_response_id="r1"),
            observed("o2", "c2", "none", exit_code=2),
            spoke("m1", "done", "agent", reasoning_content="so"),
        ),
        "talk",
    )
    assert texts(seen) == [
        ("user", "list them"),
        ("reasoning", "hm"),
        ("assistant", "I look"),
        ("tool_call", "a.txt"),
        ("tool_call", "none\n[exit code 2]"),
        ("reasoning", "so"),
        ("assistant", "done"),
    ]
    assert seen.ids[0] == "openhands:u1:0"
    assert seen.entries[3].arguments == '{"command":"ls"}'
    assert seen.entries[4].message_id == "r1"
    assert seen.entries[0].at == "2026-06-16T05:39:18.809Z"
    assert {str(record.key) for record in seen.records} == {"openhands/talk"}


def test_event_files_that_were_joined_are_one_conversation():
    events = [spoke("u1", "go"), acted("a1", "c1", "I look"), observed("o1", "c1", "out")]
    joined = "".join(map(json.dumps, events)).encode()
    assert read(joined, "talk").lasting == read(lines(*events), "talk").lasting


def test_the_report_of_the_finish_tool_is_an_answer_and_its_observation_none():
    seen = read(
        lines(
            acted("a1", "c1", action={"kind": "FinishAction", "message": "All done"}),
            observed("o1", "c1", "All done", kind="FinishObservation"),
        )
    )
    assert texts(seen) == [("assistant", "All done")]
    assert seen.skipped == 0


def test_errors_and_refusals_answer_their_call():
    refused = event("UserRejectObservation", "r1", "user", tool_call_id="c1")
    failed = event("AgentErrorEvent", "e1", tool_call_id="c2", error="no such tool")
    seen = read(
        lines(
            acted("a1", "c1"),
            refused | {"rejection_reason": "not that"},
            acted("a2", "c2"),
            failed,
            event("ConversationErrorEvent", "x1", "environment", code="E", detail="out of budget"),
        )
    )
    assert texts(seen) == [
        ("tool_call", "not that"),
        ("tool_call", "no such tool"),
        ("error", "out of budget"),
    ]


def test_a_condensation_is_a_boundary():
    seen = read(lines(spoke("u1", "go"), event("Condensation", "k1", "environment", summary="x")))
    assert [record.record for record in seen.of(Boundary)] == ["k1"]


OLD = [
    {"id": 0, "source": "agent", "action": "system", "args": {"content": "You are"}},
    {"id": 1, "source": "user", "action": "message", "args": {"content": "list them"}},
    {"id": 2, "source": "user", "action": "recall", "args": {"query": "list them"}},
    {"id": 3, "source": "environment", "observation": "recall", "cause": 2, "content": "x"},
    {"id": 4, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look"}},
    {"id": 5, "source": "agent", "observation": "run", "cause": 4, "content": "a.txt"},
    {"id": 6, "source": "agent", "action": "think", "args": {"thought": "hm"}},
    {"id": 7, "source": "agent", "observation": "think", "cause": 6, "content": "thought"},
    {"id": 8, "source": "agent", "action": "read", "args": {"path": "b"}},
    {"id": 9, "source": "agent", "observation": "error", "cause": 8, "content": "no b"},
    {"id": 10, "source": "agent", "observation": "error", "cause": 99, "content": "bad"},
    {"id": 11, "source": "environment", "observation": "agent_state_changed", "content": ""},
    {"id": 12, "source": "agent", "action": "condensation", "args": {}},
    {"id": 13, "source": "agent", "action": "finish", "args": {"final_thought": "done"}},
]
OLD = [{"timestamp": AT, "message": "", **row} for row in OLD]
OLD_TEXTS = [
    ("user", "list them"),
    ("assistant", "I look"),
    ("tool_call", "a.txt"),
    ("reasoning", "hm"),
    ("tool_call", "no b"),
    ("error", "bad"),
    ("assistant", "done"),
]


def test_events_of_version_0_are_read_from_an_array_and_from_lines():
    array = read(json.dumps(OLD, indent=1).encode(), "talk")
    assert texts(array) == OLD_TEXTS
    assert read(lines(*OLD), "talk").lasting == array.lasting
    assert array.skipped == 0
    assert array.ids[0] == "openhands:talk.1:0"
    assert array.entries[2].arguments == '{"command":"ls"}'
    assert len(array.of(Boundary)) == 1


def test_numbers_of_version_0_belong_to_their_conversation():
    data = json.dumps(OLD).encode()
    assert not set(read(data, "one").ids) & set(read(data, "two").ids)


@pytest.mark.parametrize("odd", [None, 5, "text", [], {}, [None, 5, ["x"], {"text": 5}]])
def test_values_of_the_wrong_kind_are_no_surprise(odd):
    seen = read(
        lines(
            spoke("u1", "begin"),
            event("MessageEvent", odd, odd, llm_message=odd),
            event(odd, odd, odd),
            acted("a1", odd, thought=odd, action=odd, tool_call=odd, tool_name=odd),
            event("ObservationEvent", "o1", tool_call_id=odd, observation=odd),
            {"id": 5, "source": "agent", "action": "run", "args": odd},
            {"id": 6, "source": odd, "action": "run"},
            {"id": 7, "source": "agent", "observation": "run", "cause": odd, "content": odd},
            spoke("u9", "end"),
        )
    )
    assert texts(seen)[0] == ("user", "begin")
    assert texts(seen)[-1] == ("user", "end")


ROWS = st.sampled_from(
    [
        *(spoke("u1", "one\u2028"), spoke("u2", "two"), spoke("m1", "ja", "agent")),
        *(acted("a1", "c1", "look"), acted("a2", "c2"), observed("o1", "c1", "out")),
        *(observed("o2", "c2", "more"), event("Condensation", "k1"), {"unknown": 1}, *OLD[4:10]),
    ]
)


@given(st.lists(ROWS, max_size=12), st.data())
def test_events_that_are_read_in_any_parts_give_the_journal_of_reading_them_once(rows, draws):
    data = lines(spoke("u0", "begin"), *rows)
    cuts = draws.draw(st.lists(st.integers(0, len(data)), max_size=5))
    assert journal(read_growing(data, cuts)) == journal(read(data))
