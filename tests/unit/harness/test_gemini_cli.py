from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.entry import ConversationKey, Kind
from reflector.harness.gemini_cli import GeminiCli
from reflector.harness.reading import About, Boundary, Hidden, Position, open_source
from tests.support.gemini_rows import (
    AT,
    SESSION,
    answered,
    call,
    header,
    journal,
    put,
    responded,
    response,
    rewound,
    said,
    typed,
    uid,
)
from tests.support.harness_rows import Read, lines, read, read_growing

MAIN = ConversationKey("gemini-cli", SESSION)
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n"
    "  - /home/dev/project\n- **Directory Structure:**\n</session_context>"
)
SNAPSHOT = [
    said("x1", "user", [{"text": "<state_snapshot>\nall of it\n</state_snapshot>"}]),
    said("x2", "gemini", [{"text": "Got it."}]),
]


def told(*rows, **how):
    return read(lines(header(), *rows), **how)


def texts(seen):
    return [(entry.kind.value, entry.text or entry.result) for entry in journal(seen)]


def test_a_record_that_is_rewritten_as_it_grows_is_read_once_and_whole():
    seen = told(
        typed("u1", "look"),
        answered("g1", "I look"),
        answered("g1", "I look", call("c1", status="executing")),
        answered("g1", "I look", call("c1", "out")),
        responded("u2", "c1", "out"),
        answered("g2", "done"),
        typed("u3", "thanks"),
    )
    assert texts(seen) == [
        ("user", "look"),
        ("assistant", "I look"),
        ("tool_call", "out"),
        ("assistant", "done"),
        ("user", "thanks"),
    ]
    assert seen.skipped == 0


def test_a_record_that_may_still_grow_is_held_back_until_another_one_comes():
    front = lines(header(), typed("u1", "look"))
    whole = front + lines(answered("g1", "done"), put(lastUpdated=AT))
    seen = read(whole)
    assert texts(seen) == [("user", "look")]
    assert (seen.position.resume_at, seen.position.read_to) == (len(front), len(whole))
    assert texts(read(whole + lines(typed("u2", "thanks")), read=seen))[1:] == [
        ("assistant", "done"),
        ("user", "thanks"),
    ]


def test_a_settled_source_gives_out_what_was_held_back():
    data = lines(header(), typed("u1", "look"), answered("g1", "done"))
    seen = read(data)
    assert len(seen.entries) == 1
    assert texts(read(data, read=seen, settled=True))[1:] == [("assistant", "done")]
    assert seen.position.resume_at == seen.position.read_to == len(data)
    assert read(data, read=seen, settled=True).ids == [
        f"gemini-cli:{uid('u1')}:0",
        f"gemini-cli:{uid('g1')}:0",
    ]


def test_what_grows_after_the_source_was_settled_adds_only_what_is_new():
    first = lines(header(), answered("g1", "I look"))
    seen = read(first, settled=True)
    later = lines(answered("g1", "I look", call("c1", "out")), typed("u1", "go on"))
    assert texts(read(first + later, read=seen)) == [
        ("assistant", "I look"),
        ("tool_call", "out"),
        ("user", "go on"),
    ]


def test_a_later_rewrite_is_counted_and_not_applied():
    seen = told(
        answered("g1", "first", call("c1", "long")),
        typed("u1", "go on"),
        answered("g1", "second", call("c1", "[masked]")),
        answered("g2", "and"),
        typed("u2", "thanks"),
    )
    assert ("assistant", "first") in texts(seen)
    assert ("tool_call", "long") in texts(seen)
    assert all("second" not in str(text) for _, text in texts(seen))
    assert seen.skipped == 1


def test_a_call_keeps_its_entry_when_it_was_open_in_an_earlier_version():
    seen = told(
        answered("g1", "", call("c1", status="awaiting_approval")),
        responded("u1", "c1", "out"),
        answered("g1", "", call("c1", "out")),
        typed("u2", "go on"),
    )
    assert texts(seen) == [("tool_call", "out"), ("user", "go on")]


def test_a_call_without_a_result_is_open_until_the_person_speaks():
    seen = told(answered("g1", "", call("c1", status="executing")), answered("g2", "meanwhile"))
    assert texts(seen) == []
    seen = told(answered("g1", "", call("c1", status="executing")), typed("u1", "stop"))
    assert texts(seen) == [("tool_call", None), ("user", "stop")]


def test_an_open_call_of_a_settled_source_gets_no_result():
    seen = told(answered("g1", "", call("c1", status="executing")), settled=True)
    assert texts(seen) == [("tool_call", None)]


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (call("c", "out"), "out"),
        (call("c", status="cancelled"), "[cancelled]"),
        (call("c", status="error", resultDisplay="no such file"), "no such file"),
        (call("c", status="error", resultDisplay={"fileDiff": "x"}), "[error]"),
        (
            call("c", result=[{"functionResponse": {"response": {"error": "ENOENT"}}}]),
            "ENOENT",
        ),
        (call("c", result=[{"functionResponse": {"response": {"n": 1}}}]), '{"n":1}'),
        (call("c", result=[response("c", "one"), {"text": "two"}]), "one\ntwo"),
        (call("c", result=[{"inlineData": {"data": "AAAA"}}]), "[file]"),
        (call("c", status=["odd"], result="text"), "text"),
        (call("c", status=["odd"]), None),
        (call("c", ""), ""),
    ],
)
def test_a_result_is_what_the_model_saw(given, result):
    (entry, _) = told(answered("g1", "", given), typed("u1", "go on")).entries
    assert (entry.tool, entry.arguments, entry.result) == ("read_file", '{"path":"c"}', result)


def test_calls_of_a_file_that_was_written_anew_are_found_in_its_content():
    asked = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "x"}}}
    seen = told(said("g1", "gemini", [{"text": "I look"}, asked]), responded("u1", "c1", "out"))
    assert texts(seen) == [("assistant", "I look"), ("tool_call", "out")]


def test_what_the_person_typed_is_read_as_displayed_and_without_what_hooks_added():
    injected = "<hook_context>remember this</hook_context>\n\n"
    shown = typed("u1", "sent", displayContent=[{"text": injected + "shown"}])
    plain = said("u2", "user", [{"text": injected + "plain"}, {"text": injected}])
    files = said(
        "u3",
        "user",
        [
            {"text": "explain @a"},
            {"text": "\n--- Content from referenced files ---"},
            {"text": "the content"},
        ],
    )
    image = said("u4", "user", [{"inlineData": {"data": "AAAA"}}, "and this"])
    assert texts(told(shown, plain, files, image, typed("u5", injected))) == [
        ("user", "shown"),
        ("user", "plain"),
        ("user", "explain @a"),
        ("user", "[file]\nand this"),
    ]


def test_thoughts_are_reasoning_and_errors_are_errors_and_notes_are_left_out():
    seen = told(
        said("i1", "info", "an update is there"),
        said("w1", "warning", "careful"),
        said("e1", "error", [{"text": "quota"}]),
        answered(
            "g1",
            [{"text": "thinking", "thought": True}, {"text": "hello"}],
            thoughts=[{"subject": "Plan", "description": "look"}, {"subject": "Go"}],
        ),
        typed("u1", "go on"),
    )
    assert texts(seen) == [
        ("error", "quota"),
        ("reasoning", "Plan: look\nGo"),
        ("assistant", "hello"),
        ("user", "go on"),
    ]
    assert {entry.message_id for entry in seen.entries[1:3]} == {uid("g1")}


def test_a_rewind_hides_the_message_and_all_behind_it():
    seen = told(
        typed("u1", "keep"),
        answered("g1", "kept"),
        typed("u2", "back"),
        answered("g2", "", call("c1", "out")),
        answered("g3", "also"),
        rewound("u2"),
        typed("u3", "after"),
    )
    assert texts(seen) == [("user", "keep"), ("assistant", "kept"), ("user", "after")]
    assert [hidden.message_id for hidden in seen.of(Hidden)] == [uid("u2"), uid("g2"), uid("g3")]


def test_a_rewind_is_understood_where_reading_resumed_behind_what_it_takes_back():
    front = lines(header(), typed("u1", "keep"), answered("g1", "one"), typed("u2", "two"))
    seen = read(front)
    assert seen.position.resume_at == len(front)
    back = lines(typed("u3", "three"), rewound("g1"), typed("u4", "after"))
    assert texts(read(front + back, read=seen)) == [("user", "keep"), ("user", "after")]
    assert seen.position.resume_at == len(front + back)


def test_a_rewind_that_was_read_before_costs_no_second_look(monkeypatch):
    front = lines(header(), typed("u1", "keep"), typed("u2", "back"), answered("g1", "open"))
    seen = read(front + lines(rewound("u2"), answered("g2", "held back")))
    assert seen.position.resume_at > len(front)
    back = lines(answered("g0", "held back"), rewound("x9"))
    seen = read(front + back)
    begun = []
    fold = GeminiCli.fold

    def counted(*given):
        begun.append(given)
        return fold(*given)

    monkeypatch.setattr(GeminiCli, "fold", counted)
    read(front + back + lines(put(lastUpdated=AT)), read=seen)
    assert len(begun) == 1


def test_a_record_that_is_taken_back_while_it_is_held_back_never_comes():
    seen = told(typed("u1", "keep"), answered("g1", "gone"), rewound("g1"), typed("u2", "on"))
    assert [entry.text for entry in seen.entries] == ["keep", "on"]


def test_an_open_call_is_found_again_where_its_record_began():
    front = lines(
        header(), answered("g1", "", call("c1", status="executing")), said("e1", "error", "bad")
    )
    seen = read(front)
    assert texts(read(front + lines(responded("r1", "c1", "out")), read=seen))[-1] == (
        "tool_call",
        "out",
    )


def test_a_rewind_to_an_unknown_message_takes_nothing_back():
    seen = told(typed("u1", "keep"), rewound("x9"), typed("u2", "on"))
    assert texts(seen) == [("user", "keep"), ("user", "on")]


def test_a_rewind_in_a_file_whose_head_is_lost_ends():
    data = lines({"odd": 1}, header(), typed("u1", "keep"), rewound("x9"))
    assert texts(read_growing(data, [len(data) - 30])) == [("user", "keep")]


def test_a_synced_history_says_nothing_new_and_takes_nothing_back():
    seen = told(
        put(messages=[said("s0", "user", [{"text": CONTEXT}])], lastUpdated=AT),
        typed("u1", "one"),
        answered("g1", "two"),
        put(messages=[typed("u1", "masked"), answered("g9", "copy")]),
        typed("u2", "three"),
    )
    assert texts(seen) == [("user", "one"), ("assistant", "two"), ("user", "three")]
    assert seen.of(Hidden) == seen.of(Boundary) == []


def test_a_compressed_history_is_a_boundary_and_counts_once():
    rows = [
        typed("u1", "one"),
        put(messages=SNAPSHOT),
        typed("u2", "two"),
        put(messages=[*SNAPSHOT, typed("u2", "two")]),
    ]
    seen = told(*rows)
    assert {record.record for record in seen.of(Boundary)} == {uid("x1")}
    assert texts(seen) == [("user", "one"), ("user", "two")]


def test_ids_of_a_synced_history_belong_to_their_session():
    snapshot = SNAPSHOT[0] | {"id": "d04923d38bb0f6017037e74183378ef4"}
    (boundary,) = told(put(messages=[snapshot])).of(Boundary)
    assert boundary.record == f"{SESSION}.d04923d38bb0f6017037e74183378ef4"


def test_the_folder_and_the_title_of_a_session_become_known():
    seen = told(
        put(messages=[said("s0", "user", [{"text": CONTEXT}])]),
        typed("u1", "hello"),
        put(summary="A greeting"),
    )
    assert [(about.cwd, about.title) for about in seen.of(About)] == [
        ("/home/dev/project", ""),
        ("", "A greeting"),
    ]
    moved = told(put(directories=["/home/dev/other"]), put(directories=[]), put(directories=[5]))
    assert {about.cwd for about in moved.of(About)} == {"/home/dev/other"}


def test_a_subagent_belongs_to_the_session_that_its_folder_names():
    data = lines(header(kind="subagent", directories=["/home/dev/project"]), typed("u1", "count"))
    source = open_source(io.BytesIO(data), SESSION, "11111111-2222-4333-8444-555555555555")
    parent = ConversationKey("gemini-cli", "11111111-2222-4333-8444-555555555555")
    assert source.file_key == ConversationKey(parent.harness, parent.session, SESSION)
    records = [record for batch in source.batches(Position()) for record in batch.records]
    assert {getattr(record, "parent", parent) for record in records} == {parent}


def test_the_older_document_reads_as_the_rows_do():
    rows = [typed("u1", "one"), answered("g1", "two", call("c1", "out")), typed("u2", "three")]
    once = told(*rows)
    document = header(messages=rows)
    for indent in (None, 2):
        seen = read(json.dumps(document, indent=indent).encode())
        assert seen.lasting == once.lasting
        assert seen.entries[0].kind is Kind.USER


def test_messages_in_the_first_row_of_a_file_that_went_on_are_read():
    begun = header(messages=[typed("u1", "one"), answered("g1", "two")])
    seen = read(lines(begun))
    assert texts(seen) == [("user", "one")]
    assert texts(read(lines(begun, typed("u2", "three")), read=seen)) == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", "three"),
    ]
    assert texts(read(lines(begun, typed("u2", "three"))))[1:] == [
        ("assistant", "two"),
        ("user", "three"),
    ]


@pytest.mark.parametrize("odd", [None, 5, "text", [], {}, [None, 5, ["x"], {"text": 5}]])
def test_values_of_the_wrong_kind_are_no_surprise(odd):
    seen = told(
        said("u1", "user", odd, displayContent=odd),
        answered("g1", odd, thoughts=odd),
        said("g2", "gemini", "ok", toolCalls=odd),
        said("g3", "gemini", "ok", toolCalls=[{"id": odd, "name": odd, "result": odd}]),
        {"id": odd, "type": odd},
        {"$set": odd},
        {"$set": {"messages": odd, "summary": odd, "directories": odd}},
        {"$rewindTo": odd},
        typed("u9", "end"),
    )
    assert texts(seen)[-1] == ("user", "end")


ROWS = st.sampled_from(
    [
        typed("u1", "one"),
        typed("u2", "two\u2028ü"),
        answered("g1", "look"),
        answered("g1", "look", call("c1", status="executing")),
        answered("g1", "look", call("c1", "out")),
        answered("g2", "done"),
        answered("g2", "done", call("c2", "out"), call("c3")),
        responded("r1", "c1", "out"),
        put(lastUpdated=AT),
        put(messages=SNAPSHOT),
        rewound("u1"),
        rewound("g2"),
        said("e1", "error", "bad"),
        {"unknown": True},
    ]
)


@given(st.lists(ROWS, max_size=14), st.data())
def test_a_session_that_grows_in_any_parts_gives_the_journal_of_reading_it_once(rows, draws):
    data = b"\xef\xbb\xbf" + lines(header(), *rows)
    cuts = draws.draw(st.lists(st.integers(0, len(data)), max_size=6))
    once = read(data)
    for size in (1, 1000):
        parts = read_growing(data, cuts, rows_per_batch=size)
        assert journal(parts) == journal(once)
        settled = journal(read(data, settled=True))
        assert journal(read(data, read=parts, settled=True)) == settled


@given(st.lists(ROWS, max_size=14), st.data())
def test_settling_a_session_on_the_way_loses_nothing(rows, draws):
    data = lines(header(), *rows)
    cuts = draws.draw(st.lists(st.integers(0, len(data)), max_size=4).map(sorted))
    seen = Read()
    for cut in cuts:
        if b"\n" in data[:cut]:
            read(data[:cut], read=seen, settled=draws.draw(st.booleans()))
    parts = journal(read(data, read=seen, settled=True))
    whole = journal(read(data, settled=True))
    assert {entry.id for entry in parts} >= {entry.id for entry in whole}
