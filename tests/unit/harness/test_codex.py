from __future__ import annotations

import json

import pytest

from reflector.core.entry import Kind
from reflector.harness.reading import About, Boundary, Hidden
from tests.support.harness_rows import codex, item, lines, meta, read, spoke

SESSION = "01234567-89ab-7cde-8f01-23456789abcd"
LONG = "msg_0123456789abcdef0123456789abcdef"


def call(number="c1", name="shell"):
    return item("function_call", name=name, arguments='{"command": ["ls"]}', call_id=number)


def results(*rows):
    return [entry.result for entry in read(lines(meta(), *rows)).entries if entry.tool]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (json.dumps({"output": "a.txt\n", "metadata": {"exit_code": 0}}), "a.txt\n"),
        (json.dumps({"output": "no\n", "metadata": {"exit_code": 3}}), "exit code: 3\nno\n"),
        ('{"output": broken', '{"output": broken'),
        ("Chunk ID: 1\nProcess exited with code 3\nOutput:\n", None),
        ({"type": "input_text", "text": "a.txt\n"}, "a.txt\n"),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}], "a\n[image]"),
        ({"content": "text", "success": True}, "text"),
        (None, ""),
    ],
)
def test_an_output_of_every_shape_becomes_text(output, text):
    row = item("function_call_output", call_id="c1", output=output)
    assert results(call(), row) == [output if text is None else text]


def test_calls_of_every_kind_are_calls():
    rows = [
        item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c1"),
        item("custom_tool_call_output", call_id="c1", output="ok"),
        item("local_shell_call", action={"type": "exec", "command": ["ls"]}, call_id="c2"),
        item("function_call_output", call_id="c2", output="ok"),
        item("web_search_call", action={"query": "q"}, status="completed"),
        item("tool_search_call", arguments={"query": "q"}, call_id="c3"),
        item("tool_search_output", call_id="c3", tools=[{"name": "one"}, {"name": "two"}]),
        item("function_call", name="look", namespace="mcp__x__", arguments=None, call_id="c4"),
        item("function_call_output", call_id="c4", output="ok"),
    ]
    seen = read(lines(meta(), *rows))
    assert [(entry.tool, entry.arguments, entry.result) for entry in seen.entries] == [
        ("apply_patch", "*** Begin", "ok"),
        ("local_shell", '{"type":"exec","command":["ls"]}', "ok"),
        ("web_search", '{"query":"q"}', "completed"),
        ("tool_search", '{"query":"q"}', "one\ntwo"),
        ("mcp__x__look", "", "ok"),
    ]
    assert seen.position.resume_at == seen.position.read_to


def test_only_response_items_were_said():
    rows = [
        codex("event_msg", type="user_message", message="hello"),
        spoke("user", "hello"),
        codex("event_msg", type="agent_message", message="hi"),
        spoke("assistant", "hi"),
        item("ghost_snapshot"),
        item("agent_message", content=[{"type": "input_text", "text": "to another agent"}]),
    ]
    assert [entry.text for entry in read(lines(meta(), *rows)).entries] == ["hello", "hi"]


@pytest.mark.parametrize(
    "row",
    [
        spoke("developer", "MEMORY CONTEXT"),
        spoke("user", "<environment_context>\n</environment_context>"),
        spoke("user", "# AGENTS.md instructions for /home/dev"),
        spoke("user", "<user_instructions>\n"),
        spoke("user", "<skill>\n"),
        spoke("user", " "),
    ],
)
def test_context_is_not_the_user(row):
    seen = read(lines(meta(), row, spoke("user", "hello")))
    assert [entry.text for entry in seen.entries] == ["hello"]


def test_the_editors_list_of_tabs_is_cut_from_the_users_words():
    text = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nfix it\n"
    )
    assert [entry.text for entry in read(lines(meta(), spoke("user", text))).entries] == ["fix it"]


def test_reasoning_is_its_summary():
    rows = [item("reasoning", summary=[{"text": "hm"}]), item("reasoning", summary=[])]
    (entry,) = read(lines(meta(), *rows)).entries
    assert (entry.kind, entry.text) == (Kind.REASONING, "hm")


def test_the_summarisers_answer_is_hidden_and_the_history_not_counted_again():
    history = [{"type": "message", "role": "user", "content": [{"text": "hello"}]}]
    seen = read(
        lines(
            meta(),
            spoke("user", "hello"),
            spoke("assistant", "The summary.", id=LONG),
            codex("event_msg", type="token_count"),
            codex("compacted", message="As was said: The summary.", replacement_history=history),
            spoke("assistant", "The answer."),
        )
    )
    assert [hidden.message_id for hidden in seen.of(Hidden)] == [LONG]
    assert len(seen.entries) == 3
    assert len(seen.of(Boundary)) == 1


@pytest.mark.parametrize("message", ["", "another summary, made by the provider"])
def test_a_true_answer_before_a_compaction_is_not_hidden(message):
    rows = [spoke("assistant", "The answer."), codex("compacted", message=message)]
    seen = read(lines(meta(), *rows))
    assert not seen.of(Hidden)
    assert len(seen.of(Boundary)) == 1


def test_the_summary_is_hidden_although_it_was_read_before_the_compaction_was_written():
    front = lines(meta(), spoke("assistant", "The summary.", id=LONG))
    whole = front + lines(codex("compacted", message="As was said: The summary."))
    assert [hidden.message_id for hidden in read(whole, read=read(front)).of(Hidden)] == [LONG]


BARE = {"id": SESSION, "timestamp": "2025-05-12T10:00:00.000Z", "instructions": None}


def test_the_items_of_the_first_rollouts_stand_alone():
    rows = [spoke("user", "hello")["payload"], {"record_type": "state"}, call()["payload"]]
    answer = item("function_call_output", call_id="c1", output="out")["payload"]
    seen = read(lines(BARE, *rows, answer, rows[0]))
    assert [entry.text or entry.result for entry in seen.entries] == ["hello", "out", "hello"]
    assert {record.key.session for record in seen.lasting} == {SESSION}
    assert len(set(seen.ids)) == 3


def test_a_failure_is_an_error():
    rows = [codex("event_msg", type="error", message="stream disconnected")]
    (entry,) = read(lines(meta(), *rows, codex("event_msg", type="error"))).entries
    assert (entry.kind, entry.text) == (Kind.ERROR, "stream disconnected")


def test_a_row_of_another_envelope_is_no_item():
    row = codex("never_heard_of", type="message", role="user", content="no")
    assert [entry.text for entry in read(lines(meta(), row, spoke("user", "hello"))).entries] == [
        "hello"
    ]


def test_the_first_session_line_names_the_session():
    data = lines(meta(), meta("99999999-89ab-7cde-8f01-23456789abcd"), spoke("user", "hello"))
    assert {record.key.session for record in read(data).lasting} == {SESSION}


def test_without_a_session_line_the_file_name_does():
    seen = read(lines(spoke("user", "hello")), stem=f"rollout-2026-01-02T03-04-05-{SESSION}")
    assert {record.key.session for record in seen.lasting} == {SESSION}


def test_a_fork_adds_only_its_own_rows():
    old = [spoke("user", "hello", id=LONG), spoke("assistant", "hi", id=LONG + "a")]
    parent = read(lines(meta(), *old))
    own = [spoke("user", "and now?", id=LONG + "b")]
    fork = read(lines(meta("99999999-89ab-7cde-8f01-23456789abcd"), meta(), *old, *own))
    assert fork.ids == [*parent.ids, f"codex:{LONG}b:0"]


def test_short_ids_count_only_within_their_session():
    other = read(
        lines(meta("99999999-89ab-7cde-8f01-23456789abcd"), spoke("user", "a", id="msg_1"))
    )
    assert read(lines(meta(), spoke("user", "b", id="msg_1"))).ids != other.ids


def test_a_subagents_thread_lies_under_the_thread_that_began_it():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}}
    (record,) = read(
        lines(meta() | {"payload": {"id": "child", "source": spawned}}, spoke("user", "go"))
    ).lasting
    assert (record.key.session, record.key.agent) == ("parent", "child")
    review = {"id": "child", "source": {"subagent": "review"}}
    (record,) = read(lines(meta() | {"payload": review}, spoke("user", "go"))).lasting
    assert (record.key.session, record.key.agent) == ("child", "subagent")


def test_where_it_ran_what_it_is_called_and_that_nobody_sat_there_is_told():
    rows = [
        meta(originator="codex_exec"),
        codex("turn_context", cwd="/home/dev/project"),
        codex("turn_context", cwd="/else"),
        codex("event_msg", type="thread_name_updated", thread_name="A name"),
    ]
    said = [(about.cwd, about.title, about.headless) for about in read(lines(*rows)).of(About)]
    assert said == [("/home/dev/project", "", True), ("/else", "", False), ("", "A name", False)]


@pytest.mark.parametrize("payload", [None, [], {"type": None}, {"type": "message", "role": "user"}])
def test_rows_of_an_odd_shape_do_no_harm(payload):
    odd = {"type": "response_item", "timestamp": "never", "payload": payload}
    assert len(read(lines(meta(), odd, spoke("user", "hello"))).entries) == 1
