"""The journal takes every entry once, counts it once, and lets no cursor pass what was not read."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.core.snapshot import Snapshot
from reflector.store import journal
from reflector.store.journal import Appender
from reflector.store.state import State
from tests.support.journals import (
    MAIN,
    NOW,
    about,
    append,
    assistant,
    counters,
    ended,
    heard,
    hide,
    ids,
    journal_in,
    python,
    reasoning,
    recount,
    rows,
    say,
    talk,
    tool,
    user,
)

EVERYTHING = 10**9
FORK = ConversationKey("claude-code", "fork")


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as opened:
        yield opened


def snapshot(state: State, max_bytes: int = EVERYTHING, key: ConversationKey = MAIN) -> Snapshot:
    taken = journal.snapshot(state.connection, about(state, key), max_bytes)
    assert taken is not None
    return taken


def consume(state: State, taken: Snapshot) -> None:
    with state.transaction() as connection:
        journal.consume(connection, taken)


# Appending


def test_the_same_entries_again_add_nothing_and_count_nothing(state):
    said = talk(5)
    assert append(state, said) == 20
    before, order = counters(state), ids(state)
    assert before == (5, 0, sum(each.size for each in said))
    assert append(state, said) == 0
    for each in random.Random(7).sample(said, len(said)):
        assert append(state, [each, each]) == 0
    assert (counters(state), ids(state)) == (before, order)


def test_a_late_rewrite_of_an_entry_changes_nothing(state):
    append(state, [user("u", "as it was")])
    assert append(state, [user("u", "another text, much longer")]) == 0
    assert [row["text"] for row in rows(state.connection)] == ["as it was"]
    assert counters(state) == recount(state)


def test_a_fork_adds_only_its_own_rows(state):
    append(state, talk(4))
    assert append(state, [*talk(3), *talk(2, "own")], FORK) == 8
    assert counters(state)[0] == 4
    assert counters(state, FORK) == recount(state, FORK)
    assert counters(state, FORK)[0] == 2
    assert all("own" in each for each in ids(state, FORK))


_APPENDING = """
import sys
from pathlib import Path
from tests.support.journals import append, journal_in, talk
with journal_in(Path(sys.argv[1])) as state:
    print("here", flush=True)
    sys.stdin.readline()
    print(sum(append(state, [each]) for each in talk(10)), flush=True)
"""


@pytest.mark.race
def test_two_processes_that_append_the_same_at_once_add_it_once(tmp_path):
    both = [python(_APPENDING, tmp_path) for _ in range(2)]
    for process in both:
        heard(process)
    for process in both:
        say(process, "go")
    assert sum(int(heard(process)) for process in both) == 40
    assert [ended(process) for process in both] == [0, 0]
    with journal_in(tmp_path) as state:
        assert counters(state) == recount(state)
        assert counters(state)[0] == 10
        assert sorted(ids(state)) == sorted(each.id for each in talk(10))


_TORN = """
import sys
from pathlib import Path
from reflector.store.journal import Appender
from tests.support.journals import MAIN, NOW, append, journal_in, talk
said = talk(10)
with journal_in(Path(sys.argv[1])) as state:
    for start in range(0, 20, 5):
        append(state, said[start:start + 5])
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        for each in said[20:33]:
            appender.append(appender.conversation(MAIN, None), each)
        print("in the middle", flush=True)
        sys.stdin.readline()
"""


@pytest.mark.crash
def test_killing_a_process_inside_a_transaction_keeps_whole_transactions_and_nothing_else(tmp_path):
    process = python(_TORN, tmp_path)
    heard(process)
    assert ended(process, kill=True) == -9
    said = talk(10)
    with journal_in(tmp_path) as state:
        assert ids(state) == [each.id for each in said[:20]]
        assert counters(state) == recount(state)
        assert append(state, said) == 20
        assert ids(state) == [each.id for each in said]


def test_a_step_is_an_assistant_message_with_words_however_many_rows_it_takes(state):
    append(
        state,
        [
            user("u"),
            assistant("blank", " \n"),
            reasoning("a"),
            assistant("a", "one", block=1),
            tool("a", block=2),
            assistant("a", "two", block=3),
            replace(assistant("e"), kind=Kind.ERROR),
            assistant("b"),
            assistant("a", "three", block=4),
        ],
    )
    assert counters(state)[0] == recount(state)[0] == 2


def test_an_entry_without_a_time_gets_the_present_and_times_never_go_back(state):
    append(state, [replace(user("a"), at="2026-11-30T11:00:00.000Z"), user("b")])
    append(state, [replace(user("c"), at="2020-01-01T00:00:00.000Z")])
    assert [row["at"] for row in rows(state.connection)] == [
        "2026-11-30T11:00:00.000Z",
        NOW,
        "2020-01-01T00:00:00.000Z",
    ]
    assert about(state).last_at == NOW


def test_lone_surrogates_in_what_is_known_of_a_conversation_are_replaced(state):
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        row = appender.conversation(MAIN, None)
        appender.describe(row, cwd="/a\ud800", title="t\udfff", headless=False)
    assert (about(state).cwd, about(state).title) == ("/a?", "t?")
    assert journal.conversation(state.connection, "claude-code/\udcff") is None


def test_what_is_known_of_a_conversation_is_kept_and_the_newest_title_wins(state):
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        row = appender.conversation(MAIN, None)
        appender.describe(row, cwd="/first", title="one", headless=False)
        appender.describe(row, cwd="/second", title="", headless=True)
        appender.describe(row, cwd="", title="two", headless=False)
    known = about(state)
    assert (known.cwd, known.title, known.headless) == ("/first", "two", True)


# The counters against a recount, whatever happens in whatever order

_MESSAGES = "uabcd"
_PIECES = st.tuples(st.sampled_from(_MESSAGES), st.integers(0, 3), st.sampled_from(["", "word"]))
_STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(_PIECES, min_size=1, max_size=8)),
    st.tuples(st.just("consume"), st.integers(1, 900)),
    st.tuples(st.just("hide"), st.sampled_from(["", *_MESSAGES[1:]])),
    st.tuples(st.just("replay"), st.integers(1, 3)),
)
_numbers = count()


def _piece(key: ConversationKey, message: str, block: int, text: str) -> Entry:
    kind = Kind.USER if message == "u" else (Kind.TOOL_CALL if block == 3 else Kind.ASSISTANT)
    return Entry(f"{key.session}:{message}:{block}", message, kind, text)


@given(st.lists(_STEPS, max_size=14))
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_counters_equal_a_recount_after_anything(state, steps):
    key = ConversationKey("claude-code", f"any{next(_numbers)}")
    model: dict[str, Entry] = {}
    append(state, [], key)
    with state.transaction() as connection:
        Appender(connection, NOW).conversation(key, None)
    for step, value in steps:
        before = about(state, key)
        known = ids(state, key)
        if step == "append":
            pieces = [_piece(key, *each) for each in value]
            fresh = len({each.id for each in pieces} - model.keys())
            for each in pieces:
                model.setdefault(each.id, each)
            assert append(state, pieces, key) == fresh
        elif step == "hide":
            hide(state, value, key)
        elif step == "consume":
            taken = journal.snapshot(state.connection, before, value)
            if taken is not None:
                consume(state, taken)
                assert about(state, key).cursor == taken.last_sequence
        else:
            taken = journal.replay(state.connection, before, value, EVERYTHING)
            if taken is not None:
                consume(state, taken)
            assert about(state, key) == before
        assert counters(state, key) == recount(state, key)
        assert ids(state, key)[: len(known)] == known
    assert {row["id"]: row["text"] for row in rows(state.connection, key)} == {
        each.id: each.text for each in model.values()
    }


# Hiding


def test_hiding_takes_the_newest_answer_out_of_counters_snapshots_and_payloads(state):
    append(state, talk(2))
    hide(state)
    assert counters(state) == recount(state)
    assert counters(state)[0] == 1
    taken = snapshot(state)
    assert taken.entries == 5
    assert [each.message_id for each in journal.entries(state.connection, taken)] == [
        *["m0u", "m0a", "m0a", "m0a"],
        "m1u",
    ]


def test_hiding_behind_the_cursor_leaves_what_is_pending_alone(state):
    append(state, talk(1))
    consume(state, snapshot(state))
    append(state, [user("later")])
    pending = counters(state)[2]
    hide(state)
    assert counters(state) == recount(state) == (0, 0, pending)


def test_retracting_again_when_a_file_is_read_again_hides_no_other_answer(state):
    append(state, talk(1))
    hide(state, "m0a")
    append(state, [assistant("better")])
    append(state, talk(1))
    hide(state, "m0a")
    assert counters(state) == recount(state)
    assert counters(state)[0] == 1
    assert [row["message_id"] for row in rows(state.connection) if not row["hidden"]] == [
        "m0u",
        "better",
    ]


def test_a_message_that_goes_on_after_it_was_hidden_is_a_step_again(state):
    append(state, [assistant("a")])
    hide(state)
    append(state, [assistant("a", "more", block=1)])
    assert counters(state) == recount(state)
    assert counters(state)[0] == 1


def test_hiding_in_a_conversation_without_an_answer_does_nothing(state):
    append(state, [user("u")])
    hide(state)
    hide(state, "nothing")
    assert counters(state) == recount(state)
    assert snapshot(state).entries == 1


# Cursor and snapshot


def test_consuming_moves_exactly_to_the_end_and_rows_appended_meanwhile_stay(state):
    append(state, talk(2))
    taken = snapshot(state)
    append(state, talk(1, "later"))
    consume(state, taken)
    later = talk(1, "later")
    assert about(state).cursor == taken.last_sequence == 8
    assert counters(state) == recount(state) == (3, 2, sum(each.size for each in later))
    rest = snapshot(state)
    assert [each.id for each in journal.entries(state.connection, rest)] == [e.id for e in later]
    consume(state, rest)
    assert journal.snapshot(state.connection, about(state), EVERYTHING) is None


def test_consuming_twice_or_an_older_range_never_moves_a_cursor_back(state):
    append(state, talk(3))
    small = snapshot(state, 1)
    large = snapshot(state)
    consume(state, large)
    before = about(state)
    consume(state, small)
    consume(state, large)
    assert about(state) == before


def test_a_snapshot_says_what_it_leaves_and_cutting_on_reads_everything_once(state):
    append(state, talk(7))
    read: list[str] = []
    while (taken := journal.snapshot(state.connection, about(state), 900)) is not None:
        part = [each.id for each in journal.entries(state.connection, taken)]
        read += part
        assert (part[0], part[-1]) == (taken.first_entry, taken.last_entry)
        assert taken.entries == len(part)
        assert taken.backlog_remaining == 28 - len(read)
        assert taken.mode == "advance"
        consume(state, taken)
    assert read == ids(state)
    assert counters(state) == (7, 7, 0)


def test_a_replay_takes_the_last_steps_again_and_never_moves_a_cursor(state):
    append(state, talk(5))
    consume(state, snapshot(state))
    before = about(state)
    again = journal.replay(state.connection, before, 2, EVERYTHING)
    assert again is not None
    assert (again.mode, again.first_entry) == ("replay", "claude-code:m3a:0")
    assert again.last_entry == ids(state)[-1]
    consume(state, again)
    assert about(state) == before


def test_a_replay_of_more_steps_than_there_are_takes_all_and_of_none_nothing(state):
    append(state, talk(2))
    everything = journal.replay(state.connection, about(state), 99, EVERYTHING)
    assert everything is not None
    assert everything.first_entry == "claude-code:m0a:0"
    append(state, [user("alone")], FORK)
    assert journal.replay(state.connection, about(state, FORK), 3, EVERYTHING) is None


# Boundaries


def _bounded(state: State, record: str) -> str | None:
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        appender.mark_boundary(appender.conversation(MAIN, None), record)
    return about(state).pending_compaction


def test_a_boundary_counts_once_and_is_cleared_when_the_cursor_passes_it(state):
    append(state, talk(2))
    assert _bounded(state, "b1") == "b1"
    append(state, talk(1, "later"))
    consume(state, snapshot(state, 1))
    assert about(state).pending_compaction == "b1"
    consume(state, snapshot(state))
    assert about(state).pending_compaction is None
    append(state, talk(1, "more"))
    assert _bounded(state, "b1") is None
    assert _bounded(state, "b2") == "b2"


def test_a_cursor_that_ends_at_the_boundary_has_passed_it_and_one_before_has_not(state):
    append(state, talk(1))
    at_boundary = snapshot(state)
    append(state, [user("x")])
    assert _bounded(state, "behind x") == "behind x"
    consume(state, at_boundary)
    assert about(state).pending_compaction == "behind x"


def test_a_boundary_behind_which_nothing_waits_asks_for_nothing(state):
    append(state, talk(1))
    consume(state, snapshot(state))
    assert _bounded(state, "b") is None


# Which conversations


def test_subagents_hidden_and_blocked_conversations_are_in_no_backlog(state):
    agent = ConversationKey("claude-code", "main", "agent")
    gone, waiting = ConversationKey("codex", "gone"), ConversationKey("codex", "waiting")
    for number, key in enumerate((MAIN, agent, gone, waiting)):
        append(state, talk(1, f"c{number}"), key)
    with state.transaction() as connection:
        connection.execute("UPDATE conversations SET hidden = 1 WHERE key = ?", (str(gone),))

    def backlog(only: list[str] | None, blocked: list[str]) -> list[str]:
        found = journal.backlog(state.connection, only, blocked)
        return [each.key for each in found]

    assert about(state, agent).parent == str(MAIN)
    assert backlog(None, []) == [str(MAIN), str(waiting)]
    assert backlog(None, [str(waiting)]) == [str(MAIN)]
    assert backlog([str(agent), str(gone), str(waiting)], []) == [str(waiting)]
    assert backlog([], []) == []


def _traced(state: State, act) -> list[str]:
    seen: list[str] = []
    state.connection.set_trace_callback(seen.append)
    try:
        act()
    finally:
        state.connection.set_trace_callback(None)
    return seen


def test_appending_costs_the_same_however_long_the_journal_is(state):
    append(state, talk(1, "warm"))
    short = _traced(state, lambda: append(state, talk(5, "short")))
    append(state, talk(300, "long"))
    long = _traced(state, lambda: append(state, talk(5, "more")))
    assert len(long) == len(short) <= 4 * len(talk(5))


def test_no_statement_of_the_journal_reads_all_entries(state):
    append(state, talk(50))

    def everything() -> None:
        append(state, talk(2, "new"))
        hide(state)
        hide(state, "m7a")
        _bounded(state, "b")
        taken = snapshot(state, 2000)
        journal.entries(state.connection, taken)
        journal.replay(state.connection, about(state), 3, 2000)
        consume(state, taken)

    said = {
        each
        for each in _traced(state, everything)
        if re.match("SELECT|INSERT|UPDATE|DELETE", each.strip())
    }
    assert len(said) > 10
    for statement in said:
        plan = state.connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        steps = [row["detail"] for row in plan]
        assert not [step for step in steps if re.match(r"SCAN (entries|e|mate)\b", step)], statement


def test_the_search_for_a_named_message_uses_the_index_of_messages(state):
    append(state, talk(3))
    changed = [each for each in _traced(state, lambda: hide(state, "m1a")) if "UPDATE" in each]
    assert len(changed) == 2
    for statement in changed:
        plan = state.connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        assert any("entries_of_message" in row["detail"] for row in plan)


def test_redactions_are_counted_by_rule(state):
    with state.transaction() as connection:
        for rule, many in (("github", 2), ("aws", 1), ("github", 3)):
            journal.add_redactions(connection, rule, many)
    found = state.connection.execute("SELECT rule, count FROM redactions ORDER BY rule")
    assert [tuple(row) for row in found] == [("aws", 1), ("github", 5)]


def test_the_journal_says_how_many_entries_it_holds(state):
    append(state, talk(2))
    hide(state)
    assert journal.count(state) == 8
