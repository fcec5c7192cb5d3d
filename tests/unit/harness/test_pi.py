from __future__ import annotations

import io

import pytest

from reflector.core.entry import ConversationKey, Kind
from reflector.harness.events import Json
from reflector.harness.reading import About, Boundary, open_source
from reflector.harness.registry import detect
from tests.support.harness_rows import lines, read
from tests.support.pi_rows import (
    OTHER,
    SESSION,
    SLOT,
    Tree,
    call,
    header,
    migrated,
    old,
    thinking,
    title,
)

MAIN = ConversationKey("pi", SESSION)
FILE = "2026-11-30T10-00-00-000Z_"


@pytest.fixture
def tree():
    return Tree()


def told(*rows, session=SESSION):
    return [(e.kind.value, e.text or e.tool) for e in read(lines(header(session), *rows)).entries]


def test_what_was_said_thought_and_done_becomes_entries(tree):
    rows = [
        tree.user("look"),
        tree.assistant(thinking("hm"), "I look", call("c1", command="ls"), stop="toolUse"),
        tree.result("c1", "a.py\n"),
        tree.assistant("Done."),
    ]
    entries = read(lines(header(), *rows)).entries
    assert [(entry.kind, entry.text or entry.result) for entry in entries] == [
        (Kind.USER, "look"),
        (Kind.REASONING, "hm"),
        (Kind.ASSISTANT, "I look"),
        (Kind.TOOL_CALL, "a.py\n"),
        (Kind.ASSISTANT, "Done."),
    ]
    assert entries[3].arguments == '{"command":"ls"}'
    assert len({entry.message_id for entry in entries}) == 3
    assert entries[0].at == rows[0]["timestamp"]


def test_content_may_be_plain_text(tree):
    rows = [tree.message("user", "look"), tree.message("assistant", "Done.")]
    assert told(*rows) == [("user", "look"), ("assistant", "Done.")]


def test_a_picture_is_named(tree):
    row = tree.message("user", [{"type": "text", "text": "see"}, {"type": "image", "data": "x"}])
    assert told(row) == [("user", "see\n[image]")]


def test_what_was_said_on_a_branch_that_was_left_was_still_said(tree):
    first = tree.user("one")
    left = [tree.user("two, wrong"), tree.assistant("as you like")]
    tree.leaf = first["id"]
    summary = tree.row("branch_summary", fromId=left[1]["id"], summary="they tried something")
    kept = [tree.user("two, right"), tree.assistant("better")]
    assert told(first, *left, summary, *kept) == [
        ("user", "one"),
        ("user", "two, wrong"),
        ("assistant", "as you like"),
        ("user", "two, right"),
        ("assistant", "better"),
    ]


def test_a_compaction_is_a_boundary_and_its_summary_was_not_said(tree):
    rows = [
        tree.user("go"),
        tree.row("compaction", summary="all of it", firstKeptEntryId="00000001", tokensBefore=9),
        tree.row("compaction", summary="more of it", firstKeptEntryId="00000001", tokensBefore=9),
    ]
    seen = read(lines(header(), *rows))
    assert [entry.text for entry in seen.entries] == ["go"]
    assert len({found.record for found in seen.of(Boundary)}) == 2
    assert {found.key for found in seen.of(Boundary)} == {MAIN}


def test_what_extensions_and_the_program_put_in_is_not_the_user(tree):
    rows = [
        tree.row("custom_message", customType="reflector", content="MEMORY", display=False),
        tree.message("custom", "MEMORY", customType="reflector"),
        tree.message("hookMessage", "MEMORY"),
        tree.message("developer", "be careful"),
        tree.user("go on", synthetic=True),
        tree.user("go on", attribution="agent"),
        tree.message("compactionSummary", "x", summary="all of it"),
        tree.user(" "),
        tree.user("hello", attribution="user"),
    ]
    assert told(*rows) == [("user", "hello")]


def test_what_is_typed_while_the_agent_works_leaves_the_calls_open(tree):
    rows = [tree.assistant(call("c1")), tree.user("use tabs", steering=True), tree.result("c1", "")]
    seen = read(lines(header(), *rows))
    assert [entry.text for entry in seen.entries] == ["use tabs", ""]
    assert [entry.result for entry in seen.entries] == [None, ""]


@pytest.mark.parametrize("behind", ["", "\n\nand carefully"])
def test_a_skill_that_a_command_was_replaced_by_is_not_the_user(tree, behind):
    text = f'<skill name="x" location="/x">\nDo this.\n</skill>{behind}'
    assert told(tree.user(text)) == ([("user", "and carefully")] if behind else [])


def test_a_command_that_the_user_ran_is_a_call_of_its_own(tree):
    def ran(**more):
        given = {"command": "ls", "output": "a.py\n", "exitCode": 0, "cancelled": False}
        return tree.row("message", message={"role": "bashExecution"} | given | more)

    seen = read(lines(header(), ran(), ran(exitCode=3), ran(excludeFromContext=True)))
    assert [(entry.tool, entry.arguments, entry.result) for entry in seen.entries] == [
        ("bashExecution", '{"command":"ls"}', "a.py\n"),
        ("bashExecution", '{"command":"ls"}', "exit code: 3\na.py\n"),
    ]


def test_an_error_is_one_and_an_answer_that_the_user_stopped_is_none(tree):
    stopped = tree.assistant("I would", call("c1"), stop="aborted", errorMessage="Aborted.")
    failed = tree.assistant(stop="error", errorMessage="529 overloaded")
    assert told(stopped, failed, tree.user("again")) == [
        ("assistant", "I would"),
        ("error", "529 overloaded"),
        ("tool_call", "bash"),
        ("user", "again"),
    ]


def test_a_context_that_was_cleared_leaves_no_call_open(tree):
    rows = [tree.assistant(call("c1")), tree.row("reset_boundary"), tree.user("next")]
    seen = read(lines(header(), *rows))
    assert [entry.result for entry in seen.entries if entry.tool] == [None]
    assert not seen.of(Boundary)


def test_rows_of_other_types_say_nothing(tree):
    kinds = ["model_change", "custom", "label", "session_init", "credential_pin", "unheard-of"]
    others = [tree.row(kind, title="no", name="no", content="no") for kind in kinds]
    seen = read(lines(header(), *others, tree.user("hello")))
    assert len(seen.entries) == 1
    assert {about.title for about in seen.of(About)} == {""}


def test_the_newest_name_of_a_session_is_its_title(tree):
    rows = [tree.row("session_info", name="One"), tree.row("title_change", title="Two")]
    seen = read(lines(header(title="Nought"), *rows))
    assert [about.title for about in seen.of(About) if about.title] == ["Nought", "One", "Two"]
    assert {about.cwd for about in seen.of(About)} == {"/home/dev/proj", ""}


def test_the_title_in_the_first_line_is_the_newest_wherever_reading_goes_on(tree):
    body = lines(header(), tree.user("hello"), tree.row("title_change", title="First"))
    seen = read(title("First") + body)
    more = lines(tree.assistant("hi"))
    again = read(title("Zweiter, größer") + body + more, read=seen)
    assert [about.title for about in again.of(About)] == ["First", "Zweiter, größer"]
    assert len(title("First")) == len(title("Zweiter, größer")) == SLOT


def fork(*rows, session=OTHER, parent=SESSION):
    return lines(header(session, parentSession=f"/s/{FILE}{parent}.jsonl"), *rows)


def test_a_fork_adds_only_its_own_rows_and_so_does_a_fork_of_it(tree):
    first = [tree.user("one"), tree.assistant("two", call("c1")), tree.result("c1", "out")]
    parent = read(lines(header(), *first))
    second = tree.user("three")
    child = read(fork(*first, second))
    third = tree.user("four")
    grandchild = read(fork(*first, second, third, session="another", parent=OTHER))
    assert child.ids[:3] == parent.ids
    assert grandchild.ids[:4] == child.ids
    assert len(set(grandchild.ids)) == 5


def test_equal_short_ids_of_two_sessions_are_two(tree):
    row = tree.user("hello")
    later = row | {"timestamp": "2026-12-01T10:00:00.000Z"}
    assert read(lines(header(), row)).ids != read(lines(header(OTHER), later)).ids
    untimed = {name: value for name, value in row.items() if name != "timestamp"}
    assert read(lines(header(), untimed)).ids != read(lines(header(OTHER), untimed)).ids


def test_a_record_that_was_written_anew_is_known_again(tree):
    row = tree.user("hello\n" + "x" * 5000)
    short = row | {"message": {"role": "user", "content": "hello … [cut]"}}
    assert read(lines(header(), short)).ids == read(lines(header(), row)).ids


def test_rows_of_the_first_version_are_known_again_when_a_later_pi_gave_them_ids(tree):
    rows = [
        tree.user("yes"),
        tree.assistant("ok", call("c1")),
        tree.result("c1", "out"),
        tree.row("compaction", summary="all", firstKeptEntryIndex=1, tokensBefore=9),
        tree.user("yes"),
    ]
    before = read(lines(old(header(SESSION)) | {"id": SESSION}, *map(old, rows)))
    anew = [migrated(row, f"{number:08x}") for number, row in enumerate(rows, 900)]
    anew[3] = {k: v for k, v in anew[3].items() if k != "firstKeptEntryIndex"}
    after = read(lines(header(), *anew, tree.user("new")))
    assert after.ids[:-1] == before.ids
    assert after.of(Boundary) == before.of(Boundary)
    assert len(set(after.ids)) == 5


def test_rows_without_id_and_time_count_one_by_one():
    row = {"type": "message", "message": {"role": "user", "content": "yes"}}
    assert len(set(read(lines(header(), row, row)).ids)) == 2


def test_the_session_of_a_subagent_lies_under_the_one_that_began_it(tree):
    began = tree.row("session_init", systemPrompt="You are…", task="Count the files", tools=[])
    (record,) = read(fork(began, tree.user("Count the files"))).lasting
    assert (record.key, record.parent) == (ConversationKey("pi", SESSION, OTHER), MAIN)
    alone = lines(header(OTHER), began, tree.user("Count the files"))
    (record,) = read(alone).lasting
    assert record.key == ConversationKey("pi", OTHER, "subagent")
    for folder, parent in ((FILE + SESSION, SESSION), ("--home-dev--", OTHER)):
        assert open_source(io.BytesIO(alone), "Counter", folder).file_key.session == parent


@pytest.mark.parametrize(
    "row",
    [
        {"message": None},
        {"message": {"role": "user", "content": 5}},
        {"message": {"role": ["user"], "content": [None, "text", {"type": 3}]}},
        {"message": {"role": "assistant", "content": [None, {"type": "toolCall"}]}},
        {"id": 7, "timestamp": 3},
        {"type": ["message"]},
    ],
)
def test_rows_of_an_odd_shape_do_no_harm(tree, row):
    data = lines(header(), tree.user("x"), tree.user("y") | row, tree.assistant("z") | row)
    assert read(data).entries[0].text == "x"


def test_output_of_a_run_is_no_session():
    rows: list[Json] = [{"type": "session", "version": 3, "id": "x"}, {"type": "agent_start"}]
    assert detect(rows) is None


def test_a_file_is_named_after_its_session(tmp_path, tree):
    path = tmp_path / f"{FILE}{SESSION}.jsonl"
    path.write_bytes(title("T") + lines(header(), tree.user("hello")))
    with path.open("rb") as stream:
        source = open_source(stream, path.stem)
        assert (source.harness, source.file_key) == ("pi", MAIN)
