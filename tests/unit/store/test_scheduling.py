"""What waits is stored whole, what was used is counted, what is suspected is remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from reflector.core.backoff import Strike, Suspect
from reflector.core.entry import ConversationKey
from reflector.core.park import Unreadable, Watching
from reflector.core.run import Outcome, Reason, Settlement
from reflector.core.schedule import Asked, Day, Part
from reflector.store import journal, reservations, scheduling
from reflector.store.aftermath import Circumstances, after_run
from tests.support.clocks import WHEN
from tests.support.journals import (
    MAIN,
    ME,
    NOW,
    REQUEST,
    about,
    append,
    assistant,
    journal_in,
    talk,
    user,
)

OTHER = ConversationKey("claude-code", "other")
AUTOMATIC = replace(REQUEST, trigger="step-count", priority=10)


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as opened:
        yield opened


def part(key: ConversationKey = MAIN, mode="advance") -> Part:
    return Part(str(key), mode, 1000)


def asked(*parts: Part, **values) -> Asked:
    return Asked(REQUEST, WHEN, parts or (part(),), **values)


def test_a_request_that_waits_comes_back_as_it_was(state):
    append(state, talk(2))
    with state.transaction() as connection:
        whole = journal.snapshot(connection, about(state), 100_000)
        ranged = Part(str(MAIN), "replay", 77, whole)
        waits = Asked(
            replace(
                REQUEST,
                focus="the \ud800 tests",
                pipeline="dream",
                dry_run=True,
                model="m",
                target="projects/a.md",
            ),
            WHEN,
            (part(), ranged),
            recent_n=3,
            over_budget=True,
            calls_model=False,
        )
        scheduling.queue(connection, "one", "reflection", waits)
    ((name, found),) = scheduling.pending(state.connection).values()
    assert name == "one"
    assert found.request.focus == "the ? tests"
    assert replace(found, request=waits.request) == waits


def test_one_request_of_a_pipeline_waits_and_the_newer_one_takes_its_place(state):
    with state.transaction() as connection:
        scheduling.queue(connection, "one", "reflection", asked())
        scheduling.queue(connection, "one", "reflection", asked(part(), part(OTHER)))
        dream = replace(asked(), request=replace(REQUEST, pipeline="dream"))
        scheduling.queue(connection, "two", "reflection", dream)
    found = scheduling.pending(state.connection)
    assert {name: len(each.parts) for name, (_, each) in found.items()} == {
        "reflection": 2,
        "dream": 1,
    }


def test_a_request_that_is_dropped_says_why_and_waits_no_more(state):
    with state.transaction() as connection:
        scheduling.queue(connection, "20261130T120000-00000001", "reflection", asked())
        scheduling.drop(connection, "20261130T120000-00000001", "parked", NOW)
    assert scheduling.pending(state.connection) == {}
    run = reservations.find(state.connection, "20261130T120000-00000001")
    assert run.settlement == Settlement(Outcome.CANCELLED, detail="Not started: parked.")


def test_a_day_counts_what_called_a_model_since_it_began(state):
    def ran(name: str, slot: str, started: str, usage: str, calls: int = 1) -> None:
        with state.transaction() as connection:
            reservations.reserve(connection, name, slot, REQUEST, (), ME, NOW)
            connection.execute(
                "UPDATE runs SET state = 'settled', outcome = 'merged', started_at = ?, usage = ?, "
                "calls_model = ? WHERE id = ?",
                (started, usage, calls, name),
            )

    ran("a", "reflection", "2026-11-29T23:59:59.999Z", '{"cost_usd": 9}')
    ran("b", "reflection", "2026-11-30T00:00:00.000Z", '{"cost_usd": 0.25}')
    ran("c", "reflection", "2026-11-30T01:00:00.000Z", '{"cost_usd": null}')
    ran("d", "diary", "2026-11-30T02:00:00.000Z", "{}")
    ran("e", "diary", "2026-11-30T02:00:00.000Z", '{"cost_usd": 5}', calls=0)
    used = scheduling.day(state.connection, "2026-11-30T00:00:00.000Z", WHEN, 0.5)
    assert used == Day(WHEN, {"reflection": 2, "diary": 1}, 0.75)


def test_what_is_remembered_is_changed_and_forgotten(state):
    with state.transaction() as connection:
        assert scheduling.mark(connection, "x") is None
        scheduling.set_mark(connection, "x", "1")
        scheduling.set_mark(connection, "x", "2")
        assert scheduling.mark(connection, "x") == "2"
        scheduling.clear_mark(connection, "x")
        assert scheduling.mark(connection, "x") is None


def test_a_park_belongs_to_its_route_and_one_that_cannot_be_read_says_so(state):
    with state.transaction() as connection:
        scheduling.save_park(connection, "a", Watching())
        connection.execute("INSERT INTO parks VALUES ('b', '{')")
    assert scheduling.park_state(state.connection, "a") == Watching()
    assert scheduling.park_state(state.connection, "never failed") == Watching()
    assert isinstance(scheduling.park_state(state.connection, "b"), Unreadable)


def test_where_a_conversation_stands_is_told_with_its_suspicion_and_its_waiting(state):
    append(state, talk(2))
    append(state, [user("o")], OTHER)
    suspect = '{"conversation": "c", "first_entry": "e", "strikes": [], "budget": 77}'
    with state.transaction() as connection:
        connection.execute(
            "UPDATE conversations SET suspect = ?, consecutive_failures = 2, next_eligible_at = ? "
            "WHERE key = ?",
            (suspect, NOW, str(MAIN)),
        )
    main, other = scheduling.standings(state.connection, frozenset({str(OTHER)}))
    assert (main.conversation, main.steps_since_reflection, main.has_new) == (str(MAIN), 2, True)
    assert (main.budget, main.consecutive_failures, main.next_eligible_at) == (77, 2, WHEN)
    assert (other.blocked, other.has_new, other.budget) == (True, True, None)
    assert not main.blocked


@pytest.mark.parametrize("text", ["", "{", "[]", '{"strikes": [{"odd": 1}]}', '{"strikes": 1}'])
def test_a_suspicion_that_cannot_be_read_is_none(text):
    assert scheduling.suspect_from(text) is None


def test_a_suspicion_comes_back_as_it_was(state):
    append(state, talk(2))
    with state.transaction() as connection:
        taken = journal.snapshot(connection, about(state), 100_000)
        assert taken is not None
        reservations.reserve(connection, "r", "reflection", AUTOMATIC, (taken,), ME, NOW)
    run = reservations.find(state.connection, "r")
    end = Settlement(Outcome.FAILED, Reason.REFUSAL, "no")
    with state.transaction() as connection:
        given = Circumstances(WHEN, 0.5, 1000, "s")
        assert after_run(connection, run, end, given) is False
    found = scheduling.suspect_of(state.connection, str(MAIN))
    assert isinstance(found, Suspect)
    (strike,) = found.strikes
    assert strike == Strike(strike.fingerprint, 1, retryable=False)
    (standing,) = scheduling.standings(state.connection, frozenset())
    assert standing.next_eligible_at == WHEN + timedelta(seconds=5)


def test_a_conversation_under_suspicion_is_read_alone_and_in_smaller_pieces(state):
    append(state, talk(4))
    append(state, talk(4, "o"), OTHER)
    both = asked(part(), part(OTHER))
    with state.transaction() as connection:
        plain = scheduling.cut(connection, both, 100_000, 200_000)
        assert [each.conversation for each in plain] == [str(MAIN), str(OTHER)]
        suspect = (
            f'{{"conversation": "{MAIN}", "first_entry": "{plain[0].first_entry}", "strikes": [], '
            '"budget": 300, "alone": true}'
        )
        connection.execute(
            "UPDATE conversations SET suspect = ? WHERE key = ?", (suspect, str(MAIN))
        )
        (alone,) = scheduling.cut(connection, both, 100_000, 200_000)
    assert alone.conversation == str(MAIN)
    assert alone.size < plain[0].size


def test_of_a_hidden_or_unknown_conversation_nothing_is_cut(state):
    append(state, talk(1))
    with state.transaction() as connection:
        connection.execute("UPDATE conversations SET hidden = 1")
        assert scheduling.cut(connection, asked(part(), part(OTHER)), 1000, 1000) == ()
    assert scheduling.standings(state.connection, frozenset()) == ()


def test_a_replay_is_cut_from_the_end_and_a_chosen_range_as_it_was_chosen(state):
    append(state, [*talk(3), assistant("last")])
    with state.transaction() as connection:
        (last,) = scheduling.cut(connection, asked(part(mode="replay"), recent_n=1), 10_000, 10_000)
        assert (last.mode, last.last_entry) == ("replay", "claude-code:last:0")
        chosen = Part(str(MAIN), "replay", 1, last)
        assert scheduling.cut(connection, asked(chosen), 1, 10_000) == (last,)
