"""Time, ids and chance come from one place."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from reflector.core.ambient import SystemChance, SystemClock, instant, stamp, system
from tests.support.clocks import WHEN, FakeClock, ambient

_FROM = datetime(1970, 1, 2, tzinfo=UTC)
INSTANTS = st.builds(
    lambda microseconds, minutes: (_FROM + timedelta(microseconds=microseconds)).astimezone(
        timezone(timedelta(minutes=minutes))
    ),
    st.integers(0, 200 * 365 * 86_400 * 10**6),
    st.integers(-840, 840),
)


@given(INSTANTS)
def test_a_stamp_is_the_instant_in_utc_to_the_millisecond(when):
    written = stamp(when)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written)
    assert timedelta(0) <= when - instant(written) < timedelta(milliseconds=1)


@given(INSTANTS, INSTANTS)
def test_stamps_sort_as_their_instants_do(one, other):
    if stamp(one) < stamp(other):
        assert one < other


def test_run_ids_sort_by_time_and_differ_within_one_second():
    clock = FakeClock()
    mint = ambient(clock)
    made = []
    for _ in range(3):
        made += [mint.run_id(), mint.run_id()]
        clock.sleep(1)
    assert sorted(made) == made
    assert len(set(made)) == 6
    assert re.fullmatch(r"20261130T120000-[0-9a-f]{8}", made[0])


def test_the_present_is_a_stamp_of_the_clock():
    assert ambient().now() == stamp(WHEN) == "2026-11-30T12:00:00.000Z"


@given(st.integers(1, 64))
def test_chance_gives_as_many_digits_as_were_asked_for(digits):
    assert re.fullmatch(f"[0-9a-f]{{{digits}}}", SystemChance().hex(digits))


def test_the_machines_own_time_is_aware_and_never_goes_back():
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
    assert system().token() != system().token()
    assert len(system().token()) == 32
