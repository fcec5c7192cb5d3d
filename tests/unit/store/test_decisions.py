"""Messages wait once and are worked off once; deltas stay, whatever becomes of them."""

from __future__ import annotations

import pytest

from reflector.core.decision import Delta, Friction, Kind, Message, Source, Told
from reflector.store import bullets, decisions, forgetting
from reflector.store.journal import Appender
from reflector.store.spoken import exchange
from tests.support.journals import MAIN, NOW, assistant, journal_in, reasoning, tool, user

BANK = "app-12345678"
TALK = str(MAIN)


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as opened:
        yield opened


@pytest.fixture
def connection(state):
    with state.transaction() as opened:
        yield opened


def _delta(statement="Exports are sorted by date.", **flags):
    friction = Friction(**flags)
    return Delta(
        Kind.PRODUCT, statement, Source.EXPLICIT, "by date", 3, 10, friction, "name", "why"
    )


def _said(connection, *entries):
    appender = Appender(connection, NOW)
    row = appender.conversation(MAIN, None)
    for entry in entries:
        appender.append(row, entry)


def _add(connection, *deltas, bank=BANK):
    return [
        decisions.add_delta(connection, bank, TALK, "e1", NOW, "model", each) for each in deltas
    ]


def test_a_message_waits_once(connection):
    assert decisions.enqueue_job(connection, TALK, user("m1"), BANK, NOW)
    assert not decisions.enqueue_job(connection, TALK, user("m1"), "other", NOW)
    assert decisions.enqueue_job(connection, "other/talk", user("m1"), BANK, NOW)

    assert [(one.conversation, one.message, one.bank) for one in decisions.jobs(connection)] == [
        (TALK, "m1", BANK),
        ("other/talk", "m1", BANK),
    ]
    assert decisions.jobs(connection, limit=1) == decisions.jobs(connection)[:1]


def test_a_job_ends_once_with_all_its_deltas(connection):
    decisions.enqueue_job(connection, TALK, user("m1"), BANK, NOW)
    (job,) = decisions.jobs(connection)

    made = decisions.finish_job(connection, job, [_delta(), _delta("B")], "model", NOW, {"kind": 2})

    assert made is not None
    assert len(made) == 2
    assert decisions.finish_job(connection, job, [_delta("C")], "model", NOW) is None
    assert [one.delta.statement for one in decisions.ledger(connection)] == [
        "Exports are sorted by date.",
        "B",
    ]
    found = decisions.counts(connection)
    assert (found.queued, found.done, found.waiting, found.rejected) == (0, 1, 2, {"kind": 2})


def test_a_job_that_failed_waits_on_in_its_place(connection):
    for name in ("m1", "m2"):
        decisions.enqueue_job(connection, TALK, user(name), BANK, NOW)
    first, second = decisions.jobs(connection)

    decisions.fail_job(connection, first, "overloaded")
    decisions.skip_job(connection, second, "acknowledgement", NOW)

    (job,) = decisions.jobs(connection)
    assert (job.id, job.attempts, job.error) == (first.id, 1, "overloaded")
    found = decisions.counts(connection, BANK)
    assert (found.queued, found.failed, found.last_error) == (1, 1, "overloaded")
    assert (found.oldest_at, found.skipped) == (NOW, {"acknowledgement": 1})


def test_a_delta_is_read_as_it_was_written(connection):
    (made,) = _add(connection, _delta(subtle=True))

    found = decisions.delta(connection, made)

    assert found is not None
    assert found.delta == _delta(subtle=True)
    assert (found.bank, found.conversation, found.entry, found.at) == (BANK, TALK, "e1", NOW)
    assert decisions.ledger(connection, "another") == []


def test_what_a_run_consumed_stays_in_the_ledger_and_is_consumed_once(connection):
    first, second = _add(connection, _delta(), _delta("B"))

    assert decisions.consume(connection, [first], "run-1", NOW) == 1
    assert decisions.consume(connection, [first], "run-2", NOW) == 0

    assert [one.consumed_by for one in decisions.ledger(connection)] == ["run-1", ""]
    assert [one.id for one in decisions.ledger(connection, BANK, waiting=True)] == [second]


@pytest.mark.parametrize(
    "change",
    [
        "version = 2",
        "kind = 'rumour'",
        "source = 'assistant'",
        "statement = ' '",
        "subtle = 7",
        "origin = 'x'",
    ],
)
def test_a_row_of_another_form_is_kept_counted_and_blocks_nothing(connection, change):
    first, second = _add(connection, _delta(), _delta("B"))
    connection.execute(f"UPDATE deltas SET {change} WHERE id = ?", (first,))

    assert [one.id for one in decisions.ledger(connection)] == [second]
    assert decisions.delta(connection, first) is None
    found = decisions.counts(connection)
    assert (found.waiting, found.unreadable) == (1, 1)
    assert decisions.forget_delta(connection, first)


def test_ids_never_come_back(connection):
    (first,) = _add(connection, _delta())

    assert decisions.forget_delta(connection, first)
    assert not decisions.forget_delta(connection, first)
    assert _add(connection, _delta()) == [first + 1]


def test_a_message_comes_with_the_nearest_words_before_it(connection):
    _said(
        connection,
        user("u1", "first"),
        assistant("a1", "part one"),
        tool("a1"),
        assistant("a1", "part two", block=2),
        user("u2", "second"),
        reasoning("a2"),
        assistant("a2", "  "),
        user("u3", "third"),
        assistant("a3", "later"),
    )

    assert exchange(connection, TALK, "u3") == (
        Message("assistant", "part one\npart two"),
        Message("user", "second"),
        Message("user", "third"),
    )
    assert exchange(connection, TALK, "u1") == (Message("user", "first"),)
    assert exchange(connection, TALK, "nowhere") == ()


def test_a_hidden_message_is_neither_read_nor_a_referent(connection):
    _said(connection, user("u1", "first"), user("u2", "second"))
    connection.execute("UPDATE entries SET hidden = 1 WHERE message_id = 'u1'")

    assert exchange(connection, TALK, "u2") == (Message("user", "second"),)
    assert exchange(connection, TALK, "u1") == ()


def _told(text, *ids, run="run-1"):
    return Told(0, BANK, "product", text, ids, run, NOW)


def test_a_bullet_knows_what_it_rests_on_and_what_took_its_place(connection):
    bullets.record(connection, _told("By name.", 1))
    bullets.record(connection, _told("By date.", 2, run="run-2"), "By name.")

    old, new = bullets.every(connection, BANK)
    assert (old.superseded, old.instead, old.deltas) == (True, "By date.", (1,))
    assert (new.superseded, new.deltas) == (False, (2,))

    bullets.take_back(connection, "run-2", NOW)

    assert [one.superseded for one in bullets.every(connection, BANK)] == [False, True]


def test_a_bullet_that_only_went_is_superseded_by_nothing(connection):
    bullets.record(connection, _told("By name.", 1))

    assert bullets.record(connection, _told("", run="run-2"), "By name.") == 0

    (only,) = bullets.every(connection, BANK)
    assert (only.superseded, only.instead) == (True, "")


def test_banks_are_those_that_something_names(connection):
    _add(connection, _delta(), bank="b")
    decisions.enqueue_job(connection, TALK, user("m1"), "c", NOW)
    bullets.record(connection, _told("By name."))

    assert decisions.banks(connection) == [BANK, "b", "c"]


def test_forgetting_a_message_takes_what_was_understood_of_it_along(state):
    with state.transaction() as connection:
        _said(connection, user("u1", "the canary sorts by date"), user("u2", "other words"))
        for name in ("u1", "u2"):
            decisions.add_delta(
                connection, BANK, TALK, f"claude-code:{name}:0", NOW, "model", _delta()
            )

    forgetting.erase(state, lambda raw: b"canary" in raw)

    left = decisions.ledger(state.connection)
    assert [one.entry for one in left] == ["claude-code:u2:0"]
