"""How far a conversation was read for experiences: its own cursor, and what asks for more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from reflector.core.backoff import Backoff, Strike, Suspect
from reflector.core.completion import Record
from reflector.core.entry import ConversationKey
from reflector.core.park import LastFailure, Parked, Streak
from reflector.core.run import Outcome, Reason, Request, Run, Settlement
from reflector.store import forgetting, reservations, schema, segments
from reflector.store.aftermath import Circumstances, after_run
from reflector.store.journal import Appender
from reflector.store.scheduling import park_state, save_park
from tests.support.journals import (
    MAIN,
    ME,
    NOW,
    about,
    append,
    hide,
    journal_in,
    reasoning,
    talk,
    tool,
    user,
)

TALK = str(MAIN)
OTHER = ConversationKey("claude-code", "other")
SUB = ConversationKey("claude-code", "main", "agent-1")
BIG = 1_000_000
WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
GIVEN = Circumstances(WHEN, 0.5, BIG, "s")
REQUEST = Request("experiences", "quiet", "supervisor", 10, "anthropic")


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as opened:
        yield opened


def waiting(state) -> list[str]:
    return [each.conversation for each in segments.waiting(state.connection)]


def change(state, what, *words) -> None:
    with state.transaction() as connection:
        what(connection, *words)


def ended(state, outcome: Outcome, reason: Reason | None = None, **request) -> Run:
    """Let a run over the next segment end, as its settlement does."""
    taken = segments.cut(state.connection, request.pop("talk", TALK), BIG)
    assert taken is not None
    asked = Request("experiences", request.pop("trigger", "quiet"), "x", 10, "anthropic", **request)
    run_id = f"20261130T120000-{len(reservations.recent(state.connection, 99)):08x}"
    with state.transaction() as connection:
        reservations.reserve(connection, run_id, "experiences", asked, (taken,), ME, NOW)
    run = reservations.find(state.connection, run_id)
    end = Settlement(outcome, reason)

    def also(connection) -> None:
        after_run(connection, run, end, GIVEN)

    reservations.settle(state, run_id, ME.token, end, NOW, also=also)
    return run


def test_a_conversation_waits_from_its_first_word_until_it_was_read(state):
    assert waiting(state) == []
    append(state, talk(1))
    assert waiting(state) == [TALK]
    change(state, segments.move, TALK, 4)
    assert waiting(state) == []
    append(state, talk(1, "n"))
    taken = segments.cut(state.connection, TALK, BIG)
    assert taken is not None
    assert (taken.first_sequence, taken.last_sequence, taken.mode) == (5, 8, "replay")


def test_a_cursor_never_goes_back_by_itself(state):
    append(state, talk(2))
    change(state, segments.move, TALK, 8)
    change(state, segments.move, TALK, 4)
    assert segments.cursor(state.connection, TALK) == 8
    change(state, segments.read_again, TALK)
    assert segments.cursor(state.connection, TALK) == 0


def test_what_is_no_conversation_of_its_own_or_says_nothing_never_waits(state):
    append(state, [reasoning("r"), tool("t")])
    append(state, talk(1), SUB)
    append(state, talk(1), OTHER)
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        appender.conversation(SUB, MAIN)
        connection.execute("UPDATE conversations SET hidden = 1 WHERE key = ?", (str(OTHER),))
    assert waiting(state) == []
    assert segments.cut(state.connection, str(SUB), BIG) is None
    assert segments.cut(state.connection, str(OTHER), BIG) is None
    assert segments.cut(state.connection, "nobody", BIG) is None


def test_hidden_rows_are_not_read(state):
    append(state, [user("u"), *talk(1)])
    hide(state)
    taken = segments.cut(state.connection, TALK, BIG)
    assert taken is not None
    assert taken.entries == 2


def test_reading_one_way_moves_nothing_of_the_other(state):
    append(state, talk(2))
    ended(state, Outcome.MERGED)
    assert (segments.cursor(state.connection, TALK), about(state).cursor) == (8, 0)
    assert about(state).unreflected_bytes > 0


def test_a_compaction_and_the_end_of_a_session_ask_until_it_was_read(state):
    def asked() -> list[str]:
        return [each.asked for each in segments.waiting(state.connection)]

    append(state, talk(1))
    assert asked() == [""]
    with state.transaction() as connection:
        appender = Appender(connection, NOW)
        appender.mark_boundary(appender.conversation(MAIN, None), "b1")
    assert asked() == ["compaction"]
    change(state, segments.session_ended, TALK)
    assert asked() == ["session_end"]
    ended(state, Outcome.NO_CHANGES)
    append(state, talk(1, "n"))
    assert asked() == [""]
    change(state, segments.session_ended)  # the program that embeds us ends
    assert asked() == ["session_end"]


def test_the_end_of_a_session_that_nobody_knows_says_nothing(state):
    append(state, talk(1))
    change(state, segments.session_ended, "claude-code/unknown")
    assert [each.asked for each in segments.waiting(state.connection)] == [""]


@pytest.mark.parametrize(
    ("outcome", "reason", "moved"),
    [
        (Outcome.MERGED, None, True),
        (Outcome.NO_CHANGES, None, True),
        (Outcome.AWAITING_REVIEW, None, True),
        (Outcome.PARENT_DIRTY, None, False),
        (Outcome.MERGE_CONFLICT, None, False),
        (Outcome.CANCELLED, Reason.INTERRUPTED, False),
        (Outcome.FAILED, Reason.OVERLOADED, False),
        (Outcome.FAILED, Reason.EMPTY, False),
        (Outcome.TIMED_OUT, Reason.DEADLINE_EXCEEDED, False),
    ],
)
def test_only_what_was_read_to_its_end_moves_the_cursor(state, outcome, reason, moved):
    append(state, talk(1))
    ended(state, outcome, reason)
    assert segments.cursor(state.connection, TALK) == (4 if moved else 0)


def test_a_dry_run_moves_nothing_however_it_ends(state):
    append(state, talk(1))
    ended(state, Outcome.MERGED, dry_run=True)
    ended(state, Outcome.FAILED, Reason.EMPTY, dry_run=True)
    assert segments.cursor(state.connection, TALK) == 0
    assert segments.record(state.connection, TALK) == Record()


def test_failures_count_for_extraction_alone(state):
    append(state, talk(1))
    ended(state, Outcome.FAILED, Reason.EMPTY)
    record = segments.record(state.connection, TALK)
    assert record.backoff.consecutive_failures == 1
    assert record.backoff.next_eligible_at is not None
    assert record.suspect is not None
    known = about(state)
    assert (known.next_eligible_at, known.pending_compaction) == (None, None)
    row = state.connection.execute("SELECT * FROM conversations").fetchone()
    assert (row["consecutive_failures"], row["suspect"]) == (0, None)
    ended(state, Outcome.MERGED)
    assert segments.record(state.connection, TALK) == Record()


def test_what_counts_for_nothing_waits_all_the_same_or_it_would_come_at_once(state):
    append(state, talk(1))
    ended(state, Outcome.CANCELLED, Reason.INTERRUPTED)
    assert segments.record(state.connection, TALK) == Record()
    ended(state, Outcome.MERGE_CONFLICT)
    record = segments.record(state.connection, TALK)
    assert record.suspect is None
    assert record.backoff.next_eligible_at is not None
    assert record.backoff.next_eligible_at > WHEN


def parks(state) -> list[bool]:
    routes = ("anthropic", segments.breaker("anthropic"))
    return [isinstance(park_state(state.connection, each), Parked) for each in routes]


def test_segments_that_fail_over_what_they_hold_park_extraction_alone(state):
    for number in range(3):
        key = ConversationKey("claude-code", f"t{number}")
        append(state, talk(1, f"t{number}"), key)
        ended(state, Outcome.FAILED, Reason.EMPTY, talk=str(key))
    assert parks(state) == [False, True]
    append(state, talk(1))
    ended(state, Outcome.NO_CHANGES)
    assert parks(state) == [False, False]


def test_a_provider_that_fails_parks_its_route_for_all_and_a_success_ends_that(state):
    append(state, talk(1))
    ended(state, Outcome.FAILED, Reason.AUTH)
    assert parks(state) == [True, False]
    ended(state, Outcome.MERGED)
    assert parks(state) == [False, False]


def test_a_success_proves_nothing_about_what_reflection_fails_over(state):
    append(state, talk(1))
    last = LastFailure("r", WHEN, "f", "final", "refusal", "")
    parked = Parked(Streak(3, 0, frozenset(), WHEN, last), WHEN)
    change(state, save_park, "anthropic", parked)
    ended(state, Outcome.MERGED)
    assert parks(state) == [True, False]


def test_a_manual_failure_lets_nobody_wait(state):
    append(state, talk(1))
    ended(state, Outcome.FAILED, Reason.OVERLOADED, trigger="manual")
    assert segments.record(state.connection, TALK).backoff == Backoff()


def test_what_fails_over_its_content_is_read_in_pieces_and_at_last_set_aside(state):
    append(state, [user("a", "x" * 400), user("b", "y" * 400), user("c")])
    sizes = []
    for _ in range(12):
        if segments.cursor(state.connection, TALK):
            break
        taken = segments.cut(state.connection, TALK, BIG)
        assert taken is not None
        sizes.append(taken.last_sequence)
        ended(state, Outcome.FAILED, Reason.REFUSAL)
    assert sizes[0] == 3
    assert sizes[-1] == 1
    assert segments.cursor(state.connection, TALK) == 1
    [aside] = state.connection.execute("SELECT * FROM set_aside").fetchall()
    assert (aside["conversation"], aside["last_entry"]) == (TALK, "claude-code:a:0")
    left = segments.cut(state.connection, TALK, BIG)
    assert left is not None
    assert (left.first_sequence, left.last_sequence) == (2, 3)


def test_a_piece_says_whether_a_smaller_one_could_be_cut(state):
    append(state, talk(2))
    whole = segments.cut(state.connection, TALK, BIG)
    least = segments.cut(state.connection, TALK, 1)
    assert whole is not None
    assert least is not None
    assert not segments.smallest(state.connection, whole)
    assert segments.smallest(state.connection, least)


def test_the_last_turns_before_a_segment_come_without_their_tools(state):
    append(state, [entry for turn in range(7) for entry in talk(1, f"t{turn}")])
    taken = segments.cut(state.connection, TALK, BIG, after=24)
    assert taken is not None
    before = segments.turns_before(state.connection, taken, 5)
    assert [each.id for each in before if each.kind == "user"] == [
        f"claude-code:t{turn}0u:0" for turn in range(1, 6)
    ]
    assert all(each.canonical for each in before)
    first = segments.cut(state.connection, TALK, BIG)
    assert first is not None
    assert segments.turns_before(state.connection, first, 5) == []


def test_what_is_passed_by_waits_no_more_and_what_follows_does(state):
    append(state, talk(1))
    append(state, talk(1, "o"), OTHER)
    assert segments.caught_up(state.connection, [TALK, "new/one"]) == ["new/one"]
    change(state, segments.pass_by, [TALK])
    assert waiting(state) == [str(OTHER)]
    assert segments.caught_up(state.connection, [TALK, str(OTHER)]) == [TALK]
    append(state, talk(1, "p"))
    assert waiting(state) == [TALK, str(OTHER)]
    change(state, segments.pass_by)
    assert waiting(state) == []


def test_a_database_of_an_older_program_begins_at_the_end_of_what_it_holds(tmp_path):
    with closing(sqlite3.connect(tmp_path / "state.db")) as made:
        for script in schema.MIGRATIONS[:4]:
            made.executescript(script)
        made.execute(
            "INSERT INTO conversations (key, harness, session, agent, last_sequence) "
            "VALUES (?, 'claude-code', 'main', '', 7)",
            (TALK,),
        )
        made.execute("PRAGMA user_version=4")
        made.commit()
    with journal_in(tmp_path) as state:
        assert segments.cursor(state.connection, TALK) == 7
        append(state, talk(1))
        append(state, talk(1, "o"), OTHER)
        found = segments.cut(state.connection, TALK, BIG)
        assert found is not None
        assert found.first_sequence == 8
        other = segments.cut(state.connection, str(OTHER), BIG)
        assert other is not None
        assert other.first_sequence == 1


def test_forgetting_a_conversation_forgets_how_far_it_was_read(state):
    append(state, talk(1))
    append(state, talk(1, "o"), OTHER)
    change(state, segments.move, TALK, 2)
    change(state, segments.move, str(OTHER), 2)
    forgetting.erase(state, lambda content: b"zzz" in content, TALK)
    left = state.connection.execute("SELECT conversation FROM segments").fetchall()
    assert [row[0] for row in left] == [str(OTHER)]
    assert waiting(state) == [str(OTHER)]


def test_forgetting_a_word_lets_no_conversation_be_read_anew(state):
    append(state, talk(1))
    change(state, segments.move, TALK, 4)
    forgetting.erase(state, lambda content: b"main" in content)
    assert segments.cursor(state.connection, TALK) == 4


def test_what_waits_has_a_number_that_grows_and_a_time(state):
    assert segments.oldest_at(state.connection) is None
    append(state, talk(1))
    first = segments.newest(state.connection)
    assert segments.oldest_at(state.connection) == NOW
    change(state, segments.session_ended, TALK)
    assert segments.newest(state.connection) > first


def test_a_record_is_kept_whole_and_one_that_cannot_be_read_is_none(state):
    suspect = Suspect(TALK, "e1", (Strike("f", 2, retryable=False),), 500, alone=True)
    record = Record(Backoff(3, WHEN), suspect)
    change(state, segments.save_record, TALK, record)
    assert segments.record(state.connection, TALK) == record
    with state.transaction() as connection:
        connection.execute("UPDATE segments SET suspect = '{'")
    assert segments.record(state.connection, TALK).suspect is None
