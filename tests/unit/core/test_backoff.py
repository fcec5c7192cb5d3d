from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.backoff import (
    Backoff,
    SetAside,
    Suspect,
    after_content_failure,
    after_failure,
    budget,
    eligible,
    seconds,
)
from reflector.core.failure import Failure
from reflector.core.snapshot import Snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FULL = 131_072
FINAL = Failure("f", retryable=False, fatal=False, scope="content")
RETRYABLE = Failure("r", retryable=True, fatal=False, scope="content")
PROVIDER = Failure("p", retryable=True, fatal=False, scope="provider")


def _snapshot(size: int = FULL, first: str = "e1", mode="advance") -> Snapshot:
    return Snapshot("h/c", 1, 9, first, "e9", 9, size, 0, mode)


def _fail(before, failure, taken=None, *, smallest=False, shared=False):
    return after_content_failure(
        before, taken or _snapshot(), failure, smallest=smallest, shared=shared, max_bytes=FULL
    )


@pytest.mark.parametrize(
    ("failures", "plain"), [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (8, 300), (9999, 300)]
)
def test_the_wait_doubles_up_to_five_minutes(failures, plain):
    assert seconds(failures, 0.5) == pytest.approx(plain)


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_chance_moves_the_wait_by_at_most_a_tenth(failures, chance):
    plain = seconds(failures, 0.5)
    assert 0.9 * plain - 1e-9 <= seconds(failures, chance) <= 1.1 * plain + 1e-9


def test_each_failure_counts_and_makes_the_wait_longer():
    once = after_failure(Backoff(), NOW, 0.5)
    twice = after_failure(once, NOW, 0.5)
    assert (once.consecutive_failures, once.next_eligible_at) == (1, NOW + timedelta(seconds=5))
    assert (twice.consecutive_failures, twice.next_eligible_at) == (2, NOW + timedelta(seconds=10))


def test_a_wait_ends_when_its_time_has_come():
    due = NOW + timedelta(seconds=10)
    assert not eligible(due, NOW)
    assert not eligible(due, due - timedelta(milliseconds=1))
    assert eligible(due, due)
    assert eligible(None, NOW)


def test_a_clock_that_was_set_back_holds_nobody_up():
    assert not eligible(NOW + timedelta(seconds=330), NOW)
    assert eligible(NOW + timedelta(days=300), NOW)


def test_two_final_failures_of_one_start_halve_what_is_read():
    once = _fail(None, FINAL)
    assert isinstance(once, Suspect)
    assert once.budget == FULL
    twice = _fail(once, FINAL)
    assert isinstance(twice, Suspect)
    assert twice.budget == FULL // 2


def test_retryable_failures_halve_only_at_the_fourth():
    suspect = None
    budgets = []
    for _ in range(5):
        suspect = _fail(suspect, RETRYABLE)
        budgets.append(suspect.budget)
    assert budgets == [FULL, FULL, FULL, FULL // 2, FULL // 4]


def test_half_of_what_was_read_is_halved_and_not_an_unfilled_budget():
    small = _snapshot(size=9000)
    suspect = _fail(_fail(None, FINAL, small), FINAL, small)
    assert suspect.budget == 4500


def test_one_group_that_fails_again_is_set_aside():
    taken = _snapshot(size=500)
    first = _fail(None, FINAL, taken, smallest=True)
    assert isinstance(first, Suspect)
    assert _fail(first, FINAL, taken, smallest=True) == SetAside(taken, "f")


def test_halving_ends_in_setting_aside_and_never_loops():
    suspect: object = None
    size, groups, runs = FULL, 64, 0
    while not isinstance(suspect, SetAside):
        assert suspect is None or isinstance(suspect, Suspect)
        suspect = _fail(suspect, FINAL, _snapshot(size=size), smallest=groups == 1)
        runs += 1
        if isinstance(suspect, Suspect) and suspect.budget < size:
            size, groups = suspect.budget, max(1, groups // 2)
    assert runs == 8  # two, then six halvings of 64 groups, the last failing alone


def test_a_cause_that_words_itself_anew_each_time_is_not_tried_for_ever():
    suspect: object = None
    for n in range(6):
        assert suspect is None or isinstance(suspect, Suspect)
        suspect = _fail(suspect, replace(RETRYABLE, fingerprint=str(n)), smallest=True)
    assert isinstance(suspect, SetAside)


def test_another_start_begins_without_suspicion():
    suspect = _fail(_fail(None, FINAL), FINAL)
    later = _fail(suspect, FINAL, _snapshot(first="e5"))
    assert (later.budget, later.strikes[0].failures) == (FULL, 1)


def test_a_run_of_several_conversations_sets_nothing_aside_and_isolates():
    taken = _snapshot(size=500)
    suspect = None
    for _ in range(9):
        suspect = _fail(suspect, FINAL, taken, smallest=True, shared=True)
        assert isinstance(suspect, Suspect)
        assert suspect.alone
        assert suspect.budget == FULL
    assert isinstance(_fail(suspect, FINAL, taken, smallest=True), SetAside)


def test_a_provider_failure_and_a_replay_are_nobodys_fault():
    assert _fail(None, PROVIDER) is None
    suspect = _fail(None, FINAL)
    assert _fail(suspect, PROVIDER) == suspect
    assert _fail(None, FINAL, _snapshot(mode="replay")) is None


def test_the_budget_is_only_for_the_start_under_suspicion():
    suspect = _fail(_fail(None, FINAL), FINAL)
    assert budget(suspect, "e1", FULL) == FULL // 2
    assert budget(suspect, "e2", FULL) == FULL
    assert budget(None, "e1", FULL) == FULL
    assert budget(suspect, "e1", 1000) == 1000
