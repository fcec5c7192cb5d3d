"""Hours in which work that can wait is done, over midnight too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.off_peak import Hours, opens, parse

DAY = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "opening"),
    [
        ("21:59", "2026-11-30 22:00"),
        ("22:00", None),
        ("23:59", None),
        ("00:00", None),
        ("06:59", None),
        ("07:00", "2026-11-30 22:00"),
    ],
)
def test_hours_over_midnight_hold_on_both_sides_of_it(now: str, opening: str | None):
    hour, minute = map(int, now.split(":"))
    found = opens(parse("22:00-07:00"), DAY.replace(hour=hour, minute=minute))
    assert (f"{found:%Y-%m-%d %H:%M}" if found else None) == opening


def test_hours_of_one_day_open_on_the_next_when_they_are_over():
    assert opens(parse("09:00-10:00"), DAY.replace(hour=10)) == DAY.replace(month=12, day=1, hour=9)
    assert opens(parse("  "), DAY) is None


@pytest.mark.parametrize(
    "text", ["22", "22:00", "22:00-24:00", "7-9", "22:60-07:00", "07:00-07:00", "22:00–07:00", "x"]
)
def test_what_names_no_hours_is_refused(text: str):
    with pytest.raises(ValueError, match=text):
        parse(text)


@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 1439))
def test_they_are_open_exactly_while_they_hold(first: int, last: int, minute: int):
    if first == last:
        return
    hours = Hours(first, last)
    now = DAY.replace(hour=minute // 60, minute=minute % 60)
    found = opens(hours, now)
    assert (found is None) is hours.holds(minute)
    assert found is None or (found > now and hours.holds(found.hour * 60 + found.minute))
