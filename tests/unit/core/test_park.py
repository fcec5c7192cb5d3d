from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.failure import Failure
from reflector.core.park import (
    Admit,
    FailedRun,
    Parked,
    ParkState,
    Probe,
    Refused,
    Unreadable,
    Watching,
    after_failure,
    after_success,
    at_start,
    from_json,
    gate,
    notice,
    settings_fingerprint,
    to_json,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
OVERLOADED = Failure("o", retryable=True, fatal=False, scope="provider")
BROKEN = Failure("b", retryable=False, fatal=False, scope="provider")
FATAL = Failure("a", retryable=False, fatal=True, scope="provider")
EMPTY = Failure("e", retryable=False, fatal=False, scope="content")
EXITED = Failure("x", retryable=True, fatal=False, scope="content")


def _fail(state, failure, *read, at=NOW, automatic=True, settings="s"):
    failed = FailedRun("run", frozenset(read or ("h/a",)), "reason", "detail", settings)
    return after_failure(state, failed, failure, at, automatic=automatic)


def _failures(*kinds, read=()):
    """Return after which of these failures it parked, and the last state."""
    state: ParkState = Watching()
    parked = []
    for n, kind in enumerate(kinds, start=1):
        state, just = _fail(state, kind, *(read[n - 1] if read else ()))
        if just:
            parked.append(n)
    return parked, state


def _parked(failure=BROKEN) -> Parked:
    state: ParkState = Watching()
    while not isinstance(state, Parked):
        state, _ = _fail(state, failure)
    return state


def test_three_final_six_retryable_or_one_fatal_failures_park():
    assert _failures(*[BROKEN] * 4)[0] == [3]
    assert _failures(*[OVERLOADED] * 8)[0] == [6]
    assert _failures(FATAL)[0] == [1]


def test_a_mixed_streak_parks_at_the_threshold_of_the_latest_class():
    assert _failures(BROKEN, BROKEN, OVERLOADED, OVERLOADED, BROKEN)[0] == [5]
    assert _failures(OVERLOADED, OVERLOADED, BROKEN)[0] == [3]
    assert _failures(BROKEN, BROKEN, OVERLOADED, OVERLOADED, OVERLOADED, OVERLOADED)[0] == [6]
    assert _failures(OVERLOADED, FATAL)[0] == [2]


def test_content_failures_of_one_conversation_never_park():
    assert _failures(*[EMPTY] * 50)[0] == []


def test_content_failures_of_two_conversations_park():
    assert _failures(*[EMPTY] * 3, read=[("h/a",), ("h/b",), ("h/a",)])[0] == [3]
    assert _failures(*[EXITED] * 6, read=[("h/a",), ("h/b",)] * 3)[0] == [6]
    assert _failures(*[EMPTY] * 4, read=[("h/a",), ("h/a",), ("h/a",), ("h/b",)])[0] == [4]


def test_one_poisoned_conversation_that_shared_a_run_does_not_park():
    reads = [("h/a", "h/b"), ("h/a",), ("h/a",), ("h/a", "h/c")]
    assert _failures(*[EMPTY] * 4, read=reads)[0] == []


def test_only_the_provider_s_failures_count_beside_one_bad_conversation():
    assert _failures(EMPTY, EMPTY, BROKEN, BROKEN)[0] == []
    assert _failures(EMPTY, EMPTY, BROKEN, BROKEN, BROKEN)[0] == [5]


def test_a_success_begins_a_new_streak():
    _, state = _failures(BROKEN, BROKEN)
    assert state.streak.failures == 2
    assert after_success() == Watching()


def test_a_manual_failure_changes_nothing():
    for state in (Watching(), _parked(), Unreadable("x"), _failures(BROKEN, BROKEN)[1]):
        assert _fail(state, FATAL, automatic=False) == (state, False)


def test_a_manual_run_always_passes():
    for state in (Watching(), _parked(), Unreadable("x")):
        assert gate(state, NOW, automatic=False) == Admit()


def test_while_parked_one_run_probes_every_six_hours():
    state = _parked()
    assert gate(state, NOW, automatic=True) == Refused(NOW + 6 * HOUR)
    assert gate(state, NOW + 6 * HOUR - HOUR / 60, automatic=True) == Refused(NOW + 6 * HOUR)
    first = gate(state, NOW + 6 * HOUR, automatic=True)
    assert isinstance(first, Probe)
    again = gate(first.store, NOW + 6 * HOUR, automatic=True)
    assert again == Refused(NOW + 12 * HOUR)
    assert isinstance(gate(first.store, NOW + 13 * HOUR, automatic=True), Probe)


def test_a_failed_probe_is_silent_and_stays_parked():
    admitted = gate(_parked(), NOW + 6 * HOUR, automatic=True)
    assert isinstance(admitted, Probe)
    state, just = _fail(admitted.store, OVERLOADED, at=NOW + 7 * HOUR)
    assert isinstance(state, Parked)
    assert not just
    assert state.parked_at == NOW
    assert state.streak.failures == 4
    assert gate(state, NOW + 8 * HOUR, automatic=True) == Refused(NOW + 12 * HOUR)


def test_a_clock_set_back_delays_no_probe_for_long():
    ahead = Parked(_parked().streak, NOW + timedelta(days=400))
    assert isinstance(gate(ahead, NOW, automatic=True), Probe)


def test_it_is_said_once_that_it_parked():
    told, state = notice(_parked(), NOW + HOUR)
    assert told
    assert notice(state, NOW + HOUR) == (False, state)
    assert notice(Watching(), NOW) == (False, Watching())


def test_an_old_park_is_no_news():
    told, state = notice(_parked(), NOW + timedelta(days=8))
    assert not told
    assert notice(state, NOW + timedelta(days=8)) == (False, state)


def test_other_settings_clear_a_fatal_park_and_no_other():
    fatal, other = _parked(FATAL), _parked(BROKEN)
    assert at_start(fatal, "s") == fatal
    assert at_start(fatal, "t") == Watching()
    assert at_start(other, "t") == other
    assert at_start(Unreadable("x"), "t") == Unreadable("x")


def test_the_settings_fingerprint_changes_with_each_of_them():
    base = {"engine.name": "anthropic", "engine.model": "m"}
    assert settings_fingerprint(base) == settings_fingerprint(dict(reversed(base.items())))
    assert settings_fingerprint(base) != settings_fingerprint(base | {"engine.model": "n"})


def test_unreadable_state_admits_and_its_next_failure_parks_aloud():
    state = from_json("{")
    assert isinstance(state, Unreadable)
    assert gate(state, NOW, automatic=True) == Admit()
    rewritten, just = _fail(state, OVERLOADED)
    assert isinstance(rewritten, Parked)
    assert just
    assert from_json(to_json(rewritten)) == rewritten


kinds = st.sampled_from([OVERLOADED, BROKEN, FATAL, EMPTY, EXITED])
whens = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001
    lambda when: when.replace(microsecond=when.microsecond // 1000 * 1000, tzinfo=UTC)
)
steps = st.lists(st.tuples(kinds, st.text(max_size=5), whens), max_size=9)


@given(steps, st.booleans(), st.booleans())
def test_every_state_survives_storage(history, probed, told):
    state: ParkState = Watching()
    for kind, read, at in history:
        state, _ = _fail(state, kind, read, at=at)
        assert from_json(to_json(state)) == state
    if isinstance(state, Parked):
        admitted = gate(state, datetime(2200, 1, 1, tzinfo=UTC), automatic=True)
        assert isinstance(admitted, Probe)
        state = admitted.store if probed else state
        state = notice(state, NOW)[1] if told else state
        assert from_json(to_json(state)) == state


def test_a_route_without_a_stored_state_never_failed():
    assert from_json(None) == Watching()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "0", '"x"', "{}", '{"version": 2}', "[" * 99999]
)
def test_whatever_is_no_state_is_unreadable(text):  # fmt: skip
    assert isinstance(from_json(text), Unreadable)


@pytest.mark.parametrize(
    "field", ["state", "streak", "parked_at", "settings", "last_probe_at", "noticed"]
)
@pytest.mark.parametrize("value", [0, [], "soon", {}, "2026-01-01", -1])
def test_a_stored_park_with_a_wrong_field_is_unreadable(field, value):  # fmt: skip
    if field == "settings" and isinstance(value, str):
        return
    fields = json.loads(to_json(_parked())) | {field: value}
    assert isinstance(from_json(json.dumps(fields)), Unreadable)


@pytest.mark.parametrize("field", ["failures", "of_provider", "common", "first_at", "last"])
@pytest.mark.parametrize("value", [None, [1], "soon", True, -1])
def test_a_stored_streak_with_a_wrong_field_is_unreadable(field, value):
    fields = json.loads(to_json(_parked()))
    fields["streak"][field] = value
    if field == "common" and value == "soon":
        fields["streak"][field] = 7
    assert isinstance(from_json(json.dumps(fields)), Unreadable)


def test_an_unreadable_state_stays_so_when_it_is_stored():
    assert from_json(to_json(Unreadable("x"))) == Unreadable("x")
