"""The diary's part of the state database: turns in their order, mentions counted once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.diary import Mood
from reflector.core.entry import Entry, Kind
from reflector.store import diary, scheduling
from reflector.store.diary import Job, Mention
from reflector.store.state import State
from tests.support.journals import journal_in

TALK = "claude-code/main"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    with journal_in(tmp_path) as opened:
        yield opened


def heard(state: State, number: int, *, kept: bool = True) -> bool:
    entry = Entry(f"e{number}", f"m{number}", Kind.USER, "hello")
    with state.transaction() as connection:
        return diary.enqueue(connection, TALK, entry, "2026-11-30T12:00:00.000Z", kept=kept)


def mentioned(state: State, *items: str, turn: int, talk: str = TALK, day: str = "d1") -> None:
    with state.transaction() as connection:
        diary.mentioned(connection, items, talk, turn, day)


def held(state: State, sleep: str) -> tuple[Mention, ...]:
    with state.transaction() as connection:
        return diary.hold_mentions(connection, sleep)


def test_a_message_waits_once_and_goes_its_way_in_order(state: State):
    assert [heard(state, number) for number in (1, 2, 1)] == [True, True, False]
    assert not heard(state, 1, kept=False)
    assert heard(state, 3, kept=False)
    first, second = diary.jobs(state.connection, "heard")
    with state.transaction() as connection:
        diary.judge(connection, first, keep=True, now="n")
        diary.judge(connection, second, keep=False, now="n")
        diary.fail(connection, first, "overloaded", strike=False)
        diary.fail(connection, first, "unreadable", strike=True)
    (job,) = diary.jobs(state.connection, "judged")
    assert (job.entry, job.attempts) == ("e1", 1)
    counts = diary.counts(state.connection)
    assert (counts.judged, counts.failed, counts.last_error) == (1, 1, "unreadable")
    assert counts.skipped == {"asked": 1, "no": 1}
    assert diary.newest(state.connection) > second.id


def test_what_is_ended_is_not_ended_again(state: State):
    heard(state, 1)
    (job,) = diary.jobs(state.connection, "heard")
    with state.transaction() as connection:
        diary.finish(connection, job, "new", "n")  # it was never judged
        diary.skip(connection, job, "gone", "n")
        diary.judge(connection, job, keep=True, now="n")
        diary.finish(connection, job, "new", "n")
    assert not diary.waits(state.connection, job)
    assert diary.counts(state.connection).skipped == {"gone": 1}
    assert diary.new_entries(state.connection, TALK, "") == 0
    assert not diary.waits(state.connection, Job(99, TALK, "m", "e", 1, 0))


def test_turns_ago_are_those_of_one_conversation(state: State):
    mentioned(state, "a", "b", turn=3)
    mentioned(state, "a", turn=7)
    mentioned(state, "a", turn=1, talk="other")
    assert diary.turns_ago(state.connection, TALK, 8) == {"a": 1, "b": 5}
    assert diary.turns_ago(state.connection, "other", 0) == {"a": 0}
    assert diary.turns_ago(state.connection, "none", 8) == {}


def test_what_a_night_holds_is_counted_once_and_what_comes_beside_it_later(state: State):
    mentioned(state, "a", "a", turn=1)
    mentioned(state, "a", turn=1)
    mentioned(state, "a", turn=2, day="d2")
    mentioned(state, "a", turn=2, talk="other")
    assert held(state, "n1") == (Mention("a", 3, "d2"),)
    mentioned(state, "a", turn=3, day="d3")
    assert diary.holding(state.connection) == ("n1",)
    with state.transaction() as connection:
        diary.release_mentions(connection, "n1", folded=True)
    assert held(state, "n2") == (Mention("a", 1, "d3"),)
    with state.transaction() as connection:
        diary.release_mentions(connection, "n2", folded=False)
    assert held(state, "n3") == (Mention("a", 1, "d3"),)
    assert not diary.mentioned_before(state.connection, "d3")
    assert diary.mentioned_before(state.connection, "d4")


def test_burning_leaves_nothing_of_the_diary_and_everything_else(state: State):
    heard(state, 1)
    mentioned(state, "a", turn=1)
    with state.transaction() as connection:
        diary.set_mood(connection, Mood(0.5, "2026-11-30"))
        scheduling.set_mark(connection, "other", "x")
        assert diary.mood(connection) == Mood(0.5, "2026-11-30")
        diary.burn(connection)
    assert diary.mood(state.connection) is None
    assert not diary.any_mentioned(state.connection)
    assert not diary.any_waiting(state.connection)
    assert scheduling.mark(state.connection, "other") == "x"
