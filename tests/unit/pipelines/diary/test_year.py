"""What a diary costs a heavy user: a bounded sum a month, and the same after a year."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from reflector.core.ambient import stamp
from reflector.core.diary import Diary, Entry, Trait
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.diary import proposals
from tests.support.diary_year import months

pytestmark = pytest.mark.slow

MOST_ASKED = 800_000
MOST_SAID = 30_000


def test_a_month_of_a_heavy_user_stays_within_its_goal():
    (month,) = months(30)
    assert month.entries > 200
    assert MOST_ASKED / 2 < month.asked <= MOST_ASKED
    assert MOST_SAID / 2 < month.said <= MOST_SAID


def aged(days: int) -> Diary:
    """Return a diary of so many days, with ten entries each."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    entries = {}
    for number in range(days * 10):
        at = stamp(begin + timedelta(days=number // 10, minutes=number % 10))
        text = f"They told of the harbour {number % 97} and the candle {number % 89} in the rain."
        name = f"{number:016x}"
        entries[name] = Entry(name, at[:10], text, "chat", created_at=at, updated_at=at)
    traits = {
        name: Trait(name, f"likes {name}", "said so", "user", last_reinforced="2026-01-01")
        for name in (f"{number:016x}" for number in range(days))
    }
    return Diary(entries=entries, traits=traits)


def test_a_night_costs_the_same_after_a_year_as_after_a_month():
    sizes = []
    for days in (30, 365):
        last = date(2026, 1, 1) + timedelta(days=days - 1)
        listed = proposals.items(aged(days), f"{last}T00:00:00.000Z")
        sizes.append(sum(estimate_tokens(one.text) for one in listed))
    assert 0 < sizes[1] <= 1.2 * sizes[0]
