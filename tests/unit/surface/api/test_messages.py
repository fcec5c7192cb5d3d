"""Chat messages become rows of the generic form, each known again when it is given again."""

from __future__ import annotations

import io
import json

import pytest
from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage

from reflector.core.errors import UsageError
from reflector.harness.reading import Appended, Position, open_source
from reflector.surface.api.messages import rows
from tests.support.secret_samples import ALNUM

USE = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"cmd": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}
ANTHROPIC = [
    {"role": "user", "content": "List the files."},
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, USE]},
    {"role": "user", "content": [RESULT, {"type": "text", "text": "And now?"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
]
CALL = {"id": "t1", "type": "function", "function": {"name": "bash", "arguments": '{"cmd":"ls"}'}}
OPENAI = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "List the files."},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "t1", "content": "a.txt"},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "One file."},
]


def heard(messages):
    """Return what the reader of the generic form makes of the rows: kind, words, result."""
    head = {"session_id": "s"}
    raw = b"".join(json.dumps(row).encode() + b"\n" for row in (head, *rows("s", messages)))
    batches = open_source(io.BytesIO(raw), "s").batches(Position())
    entries = [r.entry for b in batches for r in b.records if isinstance(r, Appended)]
    return [(each.kind.value, each.text or each.tool, each.result) for each in entries]


def ids(messages, session="s"):
    return [row["id"] for row in rows(session, messages)]


HEARD = [
    ("user", "List the files.", None),
    ("assistant", "I look.", None),
    ("tool_call", "bash", "a.txt"),
    ("user", "And now?", None),
    ("assistant", "One file.", None),
]


@pytest.mark.parametrize("form", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def test_both_forms_say_the_same(form):
    assert heard(form) == HEARD


def test_the_forms_give_the_same_ids_where_they_say_the_same():
    assert ids(ANTHROPIC) == ids(OPENAI)


def test_objects_of_the_packages_are_messages():
    block = TextBlock(type="text", text="I look.")
    use = ToolUseBlock(type="tool_use", id="t1", name="bash", input={"cmd": "ls"})
    usage = Usage(input_tokens=1, output_tokens=1)
    whole = Message(
        id="msg_1", content=[block, use], model="m", role="assistant", type="message", usage=usage
    )
    assert heard([{"role": "assistant", "content": [block, use]}, *ANTHROPIC[2:]]) == HEARD[1:]
    assert heard([whole, *ANTHROPIC[2:]]) == HEARD[1:]
    spoken = ChatCompletionMessage.model_validate(OPENAI[2])
    assert ids([*OPENAI[:2], spoken, *OPENAI[3:]]) == ids(OPENAI)


def test_the_pieces_of_one_answer_are_one_message():
    groups = [row["message_id"] for row in rows("s", ANTHROPIC) if row["role"] == "assistant"]
    assert groups[0] == groups[1]
    assert groups[1] != groups[2]


RESPONSES = [
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "t1",
        "name": "bash",
        "arguments": '{"cmd":"ls"}',
    },
    {"type": "function_call_output", "call_id": "t1", "output": "a.txt"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "One file."},
]


def test_the_items_of_the_responses_say_the_same():
    assert heard(RESPONSES) == HEARD


def test_a_list_that_grew_repeats_its_ids():
    assert ids(ANTHROPIC)[: len(ids(ANTHROPIC[:2]))] == ids(ANTHROPIC[:2])


def test_a_text_that_is_said_twice_has_two_ids():
    twice = [{"role": "user", "content": "ok"}, {"role": "user", "content": "ok"}]
    assert len(set(ids(twice))) == 2


def test_a_message_with_an_id_is_known_by_it_whatever_it_says():
    one = [{"role": "user", "content": "ok", "id": "1"}]
    other = [{"role": "user", "content": "ok, now", "id": "1"}]
    assert ids(one) == ids(other)
    assert ids(one) != ids([{**one[0], "id": "2"}])


def test_the_same_words_in_another_conversation_are_others():
    assert not set(ids(ANTHROPIC, "a")) & set(ids(ANTHROPIC, "b"))


def test_a_cache_mark_or_a_thought_that_was_taken_out_changes_nothing_else():
    marked = {"type": "text", "text": "I look.", "cache_control": {"type": "ephemeral"}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    plain = [{"role": "assistant", "content": [{"type": "text", "text": "I look."}]}]
    assert ids([{"role": "assistant", "content": [thought, marked]}])[1:] == ids(plain)


def test_a_time_is_kept_and_none_is_made_up():
    said = {"role": "user", "content": "ok"}
    (row,) = rows("s", [{**said, "timestamp": 1_800_000_000}])
    assert row["timestamp"] == "2027-01-15T08:00:00.000Z"
    (row,) = rows("s", [said])
    assert "timestamp" not in row


@pytest.mark.parametrize("content", [None, "", "  ", [], [{"type": "text", "text": ""}]])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_that_says_nothing_gives_no_row(role, content):
    assert list(rows("s", [{"role": role, "content": content}])) == []


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "x"}, "messages[1] has the role None."),
        ({"role": "robot"}, "messages[1] has the role 'robot'."),
        ({"role": ["user"]}, "messages[1] has the role ['user']."),
        ("hello", "messages[1] is no mapping."),
        (None, "messages[1] is no mapping."),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(message, said):
    with pytest.raises(UsageError) as caught:
        list(rows("s", [{"role": "user", "content": "x"}, message]))
    assert caught.value.message == said


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "input", "name", "tool_calls"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": VALUES},
    optional={"id": SCALARS, "tool_calls": VALUES, "timestamp": VALUES, "tool_call_id": SCALARS},
)


@settings(max_examples=40, deadline=None)
@given(st.lists(MESSAGES, max_size=5))
def test_whatever_a_message_holds_the_rows_are_json_and_their_ids_are_different(messages):
    found = list(rows("s", messages))
    assert json.loads(json.dumps(found)) == found
    assert len({row["id"] for row in found}) == len(found)


@settings(max_examples=40, deadline=None)
@given(st.lists(MESSAGES, max_size=4), st.lists(MESSAGES, max_size=2))
def test_whatever_follows_what_came_before_keeps_its_ids(before, after):
    assert ids(before + after)[: len(ids(before))] == ids(before)


def test_what_holds_itself_or_is_nested_too_deep_is_refused_with_its_place():
    itself: list[object] = []
    itself.append(itself)
    deep: object = "end"
    for _ in range(200):
        deep = [deep]
    for content in (itself, deep):
        with pytest.raises(UsageError, match=r"messages\[0\] is nested deeper"):
            list(rows("s", [{"role": "user", "content": content}]))


def test_a_number_of_any_length_is_kept():
    ((_, text, _),) = heard([{"role": "user", "content": [16**5000]}])
    assert len(text) > 5000


def test_a_secret_in_a_role_is_not_repeated():
    token = "ghp" + "_" + ALNUM[:36]
    with pytest.raises(UsageError) as caught:
        list(rows("s", [{"role": token}]))
    assert token not in caught.value.message
