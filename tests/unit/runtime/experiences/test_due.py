"""When a segment is read: quiet, compacted, ended, or asked for by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reflector.core.ambient import stamp
from reflector.runtime.experiences.due import due_at, soonest
from reflector.runtime.settings import Settings
from reflector.store.segments import Asked, Waiting

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
QUIET = timedelta(minutes=10)


def ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def one(last: datetime | None, asked: Asked = "", until: datetime | None = None) -> Waiting:
    at = stamp(last) if last else ""
    return Waiting("talk", at, asked, stamp(until) if until else None)


@pytest.mark.parametrize(
    ("waits", "at"),
    [
        pytest.param(one(ago(0)), NOW + QUIET, id="said just now"),
        pytest.param(one(ago(9)), ago(9) + QUIET, id="nearly quiet"),
        pytest.param(one(ago(10)), NOW, id="quiet"),
        pytest.param(one(ago(5000)), NOW, id="quiet for long"),
        pytest.param(one(None), NOW, id="nobody knows when"),
        pytest.param(one(ago(-3)), ago(-3) + QUIET, id="a clock that is a little ahead"),
        pytest.param(one(ago(-3000)), NOW, id="a clock that was set back"),
        pytest.param(one(ago(0), "compaction"), NOW, id="compacted"),
        pytest.param(one(ago(0), "session_end"), NOW, id="ended"),
        pytest.param(one(ago(60), until=ago(-2)), ago(-2), id="backs off"),
        pytest.param(one(ago(0), "session_end", ago(-2)), ago(-2), id="ended, backs off"),
        pytest.param(one(ago(60), until=ago(1)), NOW, id="backed off"),
        pytest.param(one(ago(1), until=ago(-2)), ago(1) + QUIET, id="backs off, not quiet"),
        pytest.param(one(ago(60), until=ago(-600)), NOW, id="a wait that no clock of ours set"),
    ],
)
def test_a_conversation_is_read_once_it_rests(waits: Waiting, at: datetime):
    assert due_at(waits, QUIET, NOW) == at


def test_a_quiet_time_beyond_all_years_is_a_long_one():
    settings = Settings({"experiences.quiet_minutes": 10**12}, {})
    waits = one(ago(1))
    at = soonest([waits], settings, NOW)
    assert at is not None
    assert at > NOW + timedelta(days=3000)
