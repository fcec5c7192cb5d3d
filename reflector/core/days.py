"""What a day is in the whole product: the difference of local calendar dates."""

from __future__ import annotations

from datetime import date, datetime, tzinfo


def local_day(moment: datetime, zone: tzinfo | None = None) -> date:
    """Return the calendar date of an aware instant in a zone, by default the machine's."""
    return moment.astimezone(zone).date()


def between(earlier: date, later: date, zone: tzinfo | None = None) -> int:
    """Return the calendar days from one to the other, negative when the later comes first.

    Instants are taken at their local date, so a night is a day and a day with 25 hours is one.
    """
    first, last = (_day(each, zone) for each in (earlier, later))
    return last.toordinal() - first.toordinal()


def since(text: str, today: date) -> int | None:
    """Return the days since a local date (`2026-11-30`): 0 for a later one, None for no date."""
    try:
        return max(0, between(date.fromisoformat(text), today))
    except ValueError:
        return None


def _day(each: date, zone: tzinfo | None) -> date:
    return local_day(each, zone) if isinstance(each, datetime) else each
