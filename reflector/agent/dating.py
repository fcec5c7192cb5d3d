"""Words for a day, a week, a month or a year, made absolute from the day of speaking."""

from __future__ import annotations

import re
from datetime import date, timedelta


def absolute(text: str, spoken: date) -> str:
    """Return the text with relative dates replaced (`2026-11-30`, `2026-12`, `2027`)."""
    for pattern, days in _DAYS:
        text = pattern.sub((spoken + timedelta(days=days)).isoformat(), text)
    monday = spoken - timedelta(days=spoken.weekday())
    for pattern, weeks in _WEEKS:
        text = pattern.sub(f"week of {monday + timedelta(weeks=weeks)}", text)
    for pattern, months in _MONTHS:
        text = pattern.sub(_month(spoken, months), text)
    for pattern, years in _YEARS:
        text = pattern.sub(f"{spoken.year + years:04d}", text)
    return _WEEKDAY.sub(lambda match: _weekday(match, monday), text)


def _month(spoken: date, offset: int) -> str:
    year, month = divmod(spoken.year * 12 + spoken.month - 1 + offset, 12)
    return f"{year:04d}-{month + 1:02d}"


def _weekday(match: re.Match[str], monday: date) -> str:
    weeks = {"last": -1, "this": 0, "next": 1}[match.group(1).lower()]
    days = _NAMES.index(match.group(2).lower()[:3])
    return (monday + timedelta(weeks=weeks, days=days)).isoformat()


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"\b(last|this|next) ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE
)
_DAYS = (
    (_any(r"\btoday\b", "今天|今日", "오늘"), 0),
    (_any(r"\byesterday\b", "昨天|昨日", "어제"), -1),
    (_any(r"\btomorrow\b", "明天|明日", "내일"), 1),
)
_WEEKS = (
    (_any(r"\bthis week\b", "本周|这周", "今週", "이번 ?주"), 0),
    (_any(r"\blast week\b", "上周|上个星期", "先週", "지난 ?주"), -1),
    (_any(r"\bnext week\b", "下周|下个星期", "来週", "다음 ?주"), 1),
)
_MONTHS = (
    (_any(r"\bthis month\b", "这个月|本月", "今月", "이번 ?달"), 0),
    (_any(r"\blast month\b", "上个月", "先月", "지난 ?달"), -1),
    (_any(r"\bnext month\b", "下个月", "来月", "다음 ?달"), 1),
)
_YEARS = (
    (_any(r"\bthis year\b", r"(?<=\bend of )the year\b", "今年", "올해"), 0),
    (_any(r"\blast year\b", "去年|昨年", "작년"), -1),
    (_any(r"\bnext year\b", "明年|来年", "내년"), 1),
)
