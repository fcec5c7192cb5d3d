from __future__ import annotations

from datetime import date

import pytest

from reflector.agent.dating import absolute

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from today on use tabs", "from 2026-11-30 on use tabs"),
        ("frozen since yesterday", "frozen since 2026-11-29"),
        ("frozen until tomorrow", "frozen until 2026-12-01"),
        ("frozen until next month", "frozen until 2026-12"),
        ("supported until the end of the year", "supported until the end of 2026"),
        ("due next Friday", "due 2026-12-11"),
        ("frozen this week", "frozen week of 2026-11-30"),
        ("明天发布", "2026-12-01发布"),
        ("来月まで", "2026-12まで"),
        ("내년부터", "2027부터"),
        ("todays_report.py stays", "todays_report.py stays"),
        ("the year after", "the year after"),
    ],
)
def test_relative_dates_become_absolute(text: str, expected: str):
    assert absolute(text, MONDAY) == expected


def test_months_go_over_the_end_of_a_year():
    assert absolute("next month", date(2026, 12, 31)) == "2027-01"
    assert absolute("last month", date(2027, 1, 1)) == "2026-12"
