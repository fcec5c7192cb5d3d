"""When a queue is consolidated: after its interval, and ever more seldom while it fails."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.consolidation import LONGEST, Attempts, due_at, failed, part, succeeded
from tests.support.clocks import WHEN

FIVE = timedelta(minutes=5)


def test_what_was_never_consolidated_is_due_at_once():
    assert due_at(Attempts(), FIVE, WHEN) == WHEN


def test_the_interval_counts_from_the_last_success():
    attempts = succeeded(WHEN)
    assert due_at(attempts, FIVE, WHEN + timedelta(minutes=2)) == WHEN + FIVE
    later = WHEN + timedelta(minutes=9)
    assert due_at(attempts, FIVE, later) == later


def test_a_clock_that_went_back_counts_as_due():
    earlier = WHEN - timedelta(days=2)
    assert due_at(failed(succeeded(WHEN), WHEN), FIVE, earlier) == earlier


@pytest.mark.parametrize(("failures", "minutes"), [(1, 5), (2, 10), (3, 20), (7, 320), (8, 360)])
def test_every_fault_doubles_the_wait_up_to_a_limit(failures: int, minutes: int):
    attempts = Attempts(None, failures, WHEN)
    assert due_at(attempts, FIVE, WHEN) == WHEN + timedelta(minutes=minutes)


def test_without_an_interval_a_dead_provider_is_still_not_asked_every_moment():
    attempts = failed(failed(Attempts(), WHEN), WHEN)
    assert due_at(attempts, timedelta(0), WHEN) == WHEN + timedelta(minutes=2)


def test_a_success_ends_the_waiting_after_faults():
    assert succeeded(WHEN) == Attempts(WHEN)


@given(st.integers(0, 10_000), st.integers(0, 5000))
def test_no_wait_is_longer_than_the_longest(failures: int, waiting: int):
    assert due_at(Attempts(WHEN, failures, WHEN), FIVE, WHEN) <= WHEN + LONGEST
    assert min(1, waiting) <= part(waiting, failures) <= waiting


def test_less_is_taken_after_every_fault_but_the_first():
    assert [part(40, failures) for failures in range(8)] == [40, 40, 20, 10, 5, 2, 1, 1]
