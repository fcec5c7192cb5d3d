from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.entry import ConversationKey, Kind
from reflector.core.errors import TranscriptError, UnknownFormatError
from reflector.harness import pairing
from reflector.harness.reading import About, Appended, Boundary, Hidden, Position, open_source
from tests.support.harness_rows import (
    assistant,
    boundary,
    codex,
    item,
    lines,
    meta,
    read,
    read_growing,
    result,
    spoke,
    tool_use,
    user,
)

MAIN = ConversationKey("claude-code", "s1")

CLAUDE = (
    b"\xef\xbb\xbf"
    + lines(
        user("u1", "go"),
        assistant("a1", "I look", tool_use("c1"), tool_use("c2")),
        assistant("a2", {"type": "thinking", "thinking": "hm"}, message="m2"),
    )
    + lines(result("r1", ("c2", "zwei ü")), end="")
    + lines(assistant("a3", "and on", message="m3"), end="\r\n")
    + b'{"type":"user","uuid":"torn\n'
    + lines(
        user("u2", "stop\u2028now"),
        result("r2", ("c1", "late")),
        assistant("p1", tool_use("c3"), message="m4", isSidechain=True),
        boundary("b1"),
        user("u1", "go"),
        assistant("a1", "I look", tool_use("c1"), tool_use("c2")),
        result("r1", ("c2", "zwei ü"), ("c1", "eins")),
        user(None, "again"),
        user(None, "again"),
        boundary("b2"),
        assistant("a4", tool_use("c4"), message="m5"),
        assistant("a5", "while it runs", message="m6"),
    )
    + lines(user(None, "again"), end="")
)

CODEX = lines(
    meta(),
    spoke("user", "go"),
    spoke("assistant", "I look", id="msg_0000000000000000000000001"),
    item("function_call", name="shell", arguments="{}", call_id="c1"),
    spoke("user", "again"),
    spoke("user", "again"),
    spoke("assistant", "the summary"),
    codex("event_msg", type="token_count"),
    codex("compacted", message="Here it is: the summary"),
    spoke("user", "again"),
    spoke("assistant", "the answer"),
    item("function_call", name="shell", arguments="{}", call_id="c2"),
    item("function_call_output", call_id="c2", output="out"),
)

GENERIC = lines(
    {"session_id": "chat", "title": "A talk"},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": "yes"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    {"role": "user", "content": "yes"},
    {"role": "tool", "tool_call_id": "c", "content": "too late"},
    {"role": "assistant", "content": "yes"},
    {"role": "assistant", "content": "yes"},
)

SOURCES = {"claude-code": CLAUDE, "codex": CODEX, "jsonl": GENERIC}


@pytest.mark.parametrize("name", SOURCES)
def test_reading_in_two_parts_gives_what_reading_at_once_gives(name):
    data = SOURCES[name]
    once = read(data)
    assert once.lasting
    for cut in range(0, len(data), 7):
        parts = read_growing(data, [cut])
        assert parts.lasting == once.lasting, cut
        assert (parts.bad_lines, parts.skipped) == (once.bad_lines, once.skipped), cut
        assert parts.position.rows == once.position.rows, cut


@given(st.data(), st.sampled_from(sorted(SOURCES)), st.integers(1, 7))
def test_reading_in_any_parts_and_batches_gives_what_reading_at_once_gives(draws, name, rows):
    data = SOURCES[name]
    cuts = draws.draw(st.lists(st.integers(0, len(data)), max_size=8))
    parts = read_growing(data, cuts, rows_per_batch=rows)
    once = read(data)
    assert parts.lasting == once.lasting
    assert parts.position.rows == once.position.rows
    assert (parts.bad_lines, parts.skipped) == (once.bad_lines, once.skipped)


def test_equal_rows_without_ids_are_different_entries():
    ids = read(GENERIC).ids
    assert len(ids) == 6
    assert len(set(ids)) == 6
    assert [name.partition(".")[2][17:] for name in ids] == [
        "0:0",
        "1:0",
        "0:0",
        "2:0",
        "0:0",
        "1:0",
    ]


def test_the_position_keeps_only_counts_that_changed():
    rows = [{"role": "user", "content": text} for text in ("a", "b", "a")]
    whole = open_source(io.BytesIO(lines(*rows)), "chat")
    *_, last = whole.batches(Position(), rows_per_batch=2)
    assert list(last.position.rows.values()) == [2]


def test_a_partial_record_before_its_full_copy_is_reported_once():
    torn = b'{"type":"user","uuid":"u2","ses\n'
    data = (
        lines(user("u1", "one")) + torn + lines(user("u2", "two"), assistant("a1", tool_use("c")))
    )
    first = read(data)
    assert first.bad_lines == 1
    assert [entry.text for entry in first.entries] == ["one", "two"]
    assert read(data + lines(result("r1", ("c", "out"))), read=first).bad_lines == 1


def test_a_fragment_is_reported_once_though_an_open_call_lies_before_it():
    data = lines(assistant("a1", tool_use("c"))) + b'{"type":\n'
    first = read(data)
    assert (first.bad_lines, first.position.resume_at) == (1, 0)
    assert read(data, read=first).bad_lines == 1


def test_a_call_becomes_an_entry_when_its_result_is_seen():
    data = lines(
        assistant("a1", "I look", tool_use("c1", path="ä"), tool_use("c2")),
        result("r2", ("c2", "two")),
        result("r1", ("c1", [{"type": "text", "text": "one"}, {"type": "image"}])),
    )
    _, second, first = read(data).entries
    assert (second.id, second.result) == ("claude-code:a1:2", "two")
    assert (first.id, first.result) == ("claude-code:a1:1", "one\n[image]")
    assert (first.kind, first.arguments) == (Kind.TOOL_CALL, '{"path":"ä"}')
    assert first.message_id == "m1"


@pytest.mark.parametrize("ending", [user("u2", "never mind"), boundary("b1")])
def test_a_call_gets_no_result_once_it_is_clear_that_none_will_come(ending):
    seen = read(lines(assistant("a1", tool_use("c1")), ending, result("r1", ("c1", "late"))))
    assert seen.entries[0].result is None
    assert seen.skipped == 1


def test_what_a_person_says_closes_no_call_of_a_subagent_and_the_other_way_round():
    data = lines(
        assistant("a1", tool_use("c1")),
        user("u1", "look into it", isSidechain=True, agentId="x"),
        result("r1", ("c1", "out")),
    )
    assert read(data).entries[1].result == "out"


def test_an_open_call_at_the_end_is_kept_back_and_read_again_later():
    front = lines(user("u1", "go"))
    data = front + lines(assistant("a1", tool_use("c1")), assistant("a2", "meanwhile"))
    seen = read(data)
    assert seen.ids == ["claude-code:u1:0", "claude-code:a2:0"]
    assert (seen.position.resume_at, seen.position.read_to) == (len(front), len(data))
    more = data + lines(result("r1", ("c1", "out")))
    assert read(more, read=seen).ids[2:] == ["claude-code:a1:0"]
    assert seen.position == Position(len(more), len(more))


def test_an_open_call_gets_no_result_once_the_turn_has_ended():
    data = lines(
        assistant("a1", tool_use("c1")),
        assistant("p1", tool_use("c2"), message="m2", isSidechain=True, agentId="x"),
    )
    assert read(data).ids == []
    seen = read(data, settled=True)
    assert [(entry.id, entry.result) for entry in seen.entries] == [("claude-code:a1:0", None)]
    late = lines(result("r1", ("c1", "late")))
    # The subagent may work on in the background: its call is open still.
    answered = lines(result("r2", ("c2", "out"), isSidechain=True, agentId="x"))
    assert [entry.result for entry in read(data + late + answered, read=seen).entries] == [
        None,
        "out",
    ]
    assert seen.skipped == 1


def test_where_it_ran_is_told_again_when_rows_are_read_again():
    data = lines(assistant("a1", tool_use("c1")))
    seen = read(data)
    more = read(data + lines(result("r1", ("c1", "out"))), read=seen)
    assert [about.cwd for about in more.of(About)] == ["/home/dev/project"] * 2


def test_a_call_too_far_behind_is_given_up(monkeypatch):
    monkeypatch.setattr(pairing, "REACH", 1000)
    filler = [assistant(f"a{n}", "x" * 200, message=f"n{n}") for n in range(9)]
    seen = read(lines(assistant("c", tool_use("c1")), *filler))
    assert seen.position.resume_at == seen.position.read_to
    assert [entry.result for entry in seen.entries if entry.tool] == [None]


def test_calls_that_share_an_id_are_answered_in_their_order():
    data = lines(
        assistant("a1", tool_use(""), tool_use("")), result("r1", ("", "one"), ("", "two"))
    )
    assert [(entry.id, entry.result) for entry in read(data).entries] == [
        ("claude-code:a1:0", "one"),
        ("claude-code:a1:1", "two"),
    ]


def test_a_second_compaction_that_copies_earlier_rows_gives_them_their_ids_again():
    seen = read(CLAUDE)
    assert seen.ids.count("claude-code:u1:0") == 2
    assert {record.record for record in seen.of(Boundary)} == {"b1", "b2"}


def test_a_rewritten_row_keeps_its_id():
    data = lines(assistant("a1", "draft"), assistant("a1", "draft, longer"))
    assert read(data).ids == ["claude-code:a1:0"] * 2


def test_a_subagent_has_the_main_conversation_as_its_parent():
    (about, said) = read(lines(user("u1", "go", isSidechain=True, agentId="x"))).records
    assert isinstance(about, About)
    assert isinstance(said, Appended)
    assert said.key == about.key == ConversationKey("claude-code", "s1", "x")
    assert said.parent == about.parent == MAIN


def test_a_hidden_message_is_named():
    (hidden,) = read(CODEX).of(Hidden)
    assert [e.text for e in read(CODEX).entries if e.message_id == hidden.message_id] == [
        "the summary"
    ]


def test_a_session_id_that_is_not_plain_is_hashed():
    (entry,) = read(lines({"session_id": "a\nb", "role": "user", "content": "x"})).records
    assert isinstance(entry, Appended)
    assert entry.key.session.startswith("h")
    assert "\n" not in entry.entry.id


@pytest.mark.parametrize("data", [b"", b" \n\r\n"])
def test_an_empty_file_is_no_transcript(data):
    with pytest.raises(TranscriptError, match="empty"):
        open_source(io.BytesIO(data), "chat")


def test_a_binary_file_is_no_transcript():
    with pytest.raises(TranscriptError, match="binary"):
        open_source(io.BytesIO(b"SQLite format 3\0..."), "chat")


def test_a_file_with_half_a_line_is_no_transcript_yet():
    with pytest.raises(TranscriptError, match="no complete line") as raised:
        open_source(io.BytesIO(b'{"type":"user","uu'), "chat")
    assert not isinstance(raised.value, UnknownFormatError)


def test_the_file_names_its_main_conversation():
    data = lines(user("u1", "go", isSidechain=True), user("u2", "go"))
    assert open_source(io.BytesIO(data), "file").file_key == MAIN


def test_nothing_new_gives_no_batch():
    data = lines(user("u1", "go"))
    seen = read(data)
    assert list(open_source(io.BytesIO(data), "file").batches(seen.position)) == []
