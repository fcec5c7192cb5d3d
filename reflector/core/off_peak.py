"""Hours of the day in which work that can wait is done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_HOURS = re.compile(
    r"\s*([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-3]):([0-5][0-9])\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Hours:
    """From one minute of the local day to another, the last excluded; it may go over midnight."""

    begins: int
    ends: int

    def holds(self, minute: int) -> bool:
        """Tell whether a minute of the day lies inside."""
        if self.begins < self.ends:
            return self.begins <= minute < self.ends
        return minute >= self.begins or minute < self.ends


def parse(text: str) -> Hours | None:
    """Read `22:00-07:00`; None for "", which is any time. Raises ValueError for anything else."""
    if not text.strip():
        return None
    found = _HOURS.match(text)
    if found is None:
        raise ValueError(text)
    first, last = (int(found[at]) * 60 + int(found[at + 1]) for at in (1, 3))
    if first == last:
        raise ValueError(text)
    return Hours(first, last)


def opens(hours: Hours | None, now: datetime) -> datetime | None:
    """Return when the hours begin next, None while they last. `now` is local and aware."""
    if hours is None or hours.holds(now.hour * 60 + now.minute):
        return None
    begins = now.replace(hour=hours.begins // 60, minute=hours.begins % 60, second=0, microsecond=0)
    return begins if begins > now else begins + timedelta(days=1)
