"""What a person means by a time in the past: a date, a moment, or so long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_AGO = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def since(text: str, now: datetime) -> datetime:
    """Return the instant that `2026-11-30`, `2026-11-30T10:00:00Z`, `30d` or `2h` means, in UTC.

    A date begins at midnight where the person is; so does a moment without a zone count there.
    Raises ValueError for everything else, and for what lies in the future.
    """
    found = _ago(text, now) or _moment(text)
    if found > now:
        raise ValueError(f"{text[:40]!r} lies in the future")
    return found


def _ago(text: str, now: datetime) -> datetime | None:
    match = _AGO.fullmatch(text)
    if match is None:
        return None
    try:
        return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError as error:
        raise _strange(text) from error


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _strange(text) from error


def _strange(text: str) -> ValueError:
    return ValueError(f"{text[:40]!r} is no time like 2026-11-30, 2026-11-30T10:00:00Z, 30d or 2h")
