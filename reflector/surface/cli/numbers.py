"""Numbers and times on the command line."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

from reflector.core.ambient import stamp, system

_AGO = re.compile(r"(\d{1,4})([mhdw])\Z")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_DIGITS = 18
"""More than these no database takes, and of thousands Python makes no number."""


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or len(text) > _DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number of at least 1")
    return int(text)


def moment(text: str) -> str:
    """Read a time in the past, `2026-11-30`, an RFC 3339 instant or `7d`; return it as `stamp` does."""
    try:
        if ago := _AGO.match(text):
            return stamp(system().clock.now() - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
        found = datetime.fromisoformat(text)
        return stamp(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no time like 2026-11-30, 2026-11-30T08:00:00Z or 7d"
        ) from None
