"""A time in the past, as a person writes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.runtime.since import since

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OLD = datetime(1970, 1, 2, tzinfo=UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2h", NOW - timedelta(hours=2)),
        ("90m", NOW - timedelta(minutes=90)),
        ("30d", NOW - timedelta(days=30)),
        ("2w", NOW - timedelta(weeks=2)),
        ("0d", NOW),
        ("2026-11-30T10:00:00Z", NOW - timedelta(hours=2)),
        ("2026-11-30T10:00:00+02:00", NOW - timedelta(hours=4)),
        ("2026-11-30 10:00:00.500Z", NOW - timedelta(hours=1, minutes=59, seconds=59.5)),
        ("2026-11-01", datetime(2026, 11, 1).astimezone(UTC)),
        ("2026-11-01T08:00", datetime(2026, 11, 1, 8).astimezone(UTC)),
    ],
)
def test_a_time_is_understood(text, meant):
    assert since(text, NOW) == meant


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "30", "d", "-2h", "1.5h", "2 h", "2h30", "٣d", "2026-13-01", "2026-02-30"],
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match="is no time like"):
        since(text, NOW)


@pytest.mark.parametrize("text", ["999999w", "0001-01-01T00:00:00+23:00"])
def test_a_time_before_all_calendars_is_refused(text):
    with pytest.raises(ValueError, match="is no time like"):
        since(text, NOW)


@pytest.mark.parametrize("text", ["2026-12-02", "2026-11-30T12:00:00.001Z"])
def test_the_future_is_refused(text):
    with pytest.raises(ValueError, match="in the future"):
        since(text, NOW)


@given(st.text(max_size=30))
def test_any_text_is_a_time_in_the_past_or_refused(text):
    try:
        found = since(text, NOW)
    except ValueError as error:
        assert len(str(error)) < 200
    else:
        assert found <= NOW
        assert found.tzinfo is UTC


@given(st.datetimes(OLD, NOW.replace(tzinfo=None)))
def test_a_written_moment_is_that_moment(moment):
    here = moment.replace(tzinfo=UTC)
    assert since(here.isoformat(), NOW) == here
