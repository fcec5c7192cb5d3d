"""What a day is: local calendar dates, and nothing else counts them."""

from __future__ import annotations

import ast
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.days import between, local_day, since

ROOT = Path(__file__).resolve().parents[3] / "reflector"
COUNTS = re.compile(r"\.(?:days|toordinal)\b")
BERLIN, NEW_YORK, KIRITIMATI, PAGO = (
    ZoneInfo(name)
    for name in ("Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago")
)


def test_an_instant_has_the_date_that_the_calendar_on_the_wall_shows() -> None:
    moment = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)

    assert local_day(moment, BERLIN) == date(2026, 12, 1)
    assert local_day(moment, NEW_YORK) == date(2026, 11, 30)


def test_two_minutes_over_midnight_are_a_day_and_the_hours_before_it_are_none() -> None:
    before = datetime(2026, 11, 30, 23, 59, tzinfo=BERLIN)

    assert between(before, before + timedelta(minutes=2), BERLIN) == 1
    assert between(before - timedelta(hours=23), before, BERLIN) == 0


@pytest.mark.parametrize(
    ("morning", "hours"),
    [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 6, 1), 24)],
)
def test_a_day_that_the_clocks_make_shorter_or_longer_is_one_day(morning: date, hours: int) -> None:
    start = datetime(morning.year, morning.month, morning.day, tzinfo=BERLIN).astimezone(UTC)

    assert between(start, start + timedelta(hours=hours), BERLIN) == 1
    assert between(start, start + timedelta(hours=hours, seconds=-1), BERLIN) == 0


def test_whoever_changes_the_zone_changes_the_day_not_the_instants() -> None:
    then, now = (datetime(2026, 11, day, 10, tzinfo=UTC) for day in (29, 30))

    assert [between(then, now, zone) for zone in (BERLIN, NEW_YORK, KIRITIMATI, PAGO)] == [1] * 4
    assert between(local_day(then, PAGO), local_day(now, KIRITIMATI)) == 3


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        ("2026-12-31", "2027-01-01", 1),
        ("2028-02-28", "2028-03-01", 2),
        ("2027-02-28", "2027-03-01", 1),
        ("2028-02-29", "2029-02-28", 365),
        ("2028-02-29", "2029-03-01", 366),
    ],
)
def test_years_end_and_leap_days_are_days_like_others(first: str, last: str, days: int) -> None:
    assert between(date.fromisoformat(first), date.fromisoformat(last)) == days
    assert since(first, date.fromisoformat(last)) == days


def test_a_later_date_is_today_and_what_is_no_date_is_unknown() -> None:
    today = date(2026, 11, 30)

    assert since("2026-12-24", today) == 0
    assert since("2027-02-29", today) is None
    assert since("", today) is None


@given(st.dates(), st.dates(), st.dates())
def test_days_add_up(first: date, second: date, third: date) -> None:
    assert between(first, second) + between(second, third) == between(first, third)
    assert between(first, second) == -between(second, first)


@given(
    st.datetimes(datetime(1980, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.integers(0, 10**7),
)
def test_later_is_never_a_day_earlier(moment: datetime, seconds: int) -> None:
    for zone in (BERLIN, NEW_YORK, KIRITIMATI, PAGO):
        assert between(moment, moment + timedelta(seconds=seconds), zone) >= 0


def test_nothing_else_in_the_product_counts_days() -> None:
    counting = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in sorted(ROOT.rglob("*.py"))
        if file != ROOT / "core" / "days.py" and COUNTS.search(file.read_text("utf-8"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("days", "toordinal")
    ]
    # `core.days` is named as a module here and there; of a time difference nobody asks the days.
    assert [place for place in counting if not place.startswith("runtime/settings")] == []
