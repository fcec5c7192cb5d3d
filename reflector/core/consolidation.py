"""When what waits in a queue is consolidated next: an interval after a success, longer after faults."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

LONGEST: Final = timedelta(hours=6)
"""The longest wait after faults, however many there were."""
_SHORTEST: Final = timedelta(minutes=1)
_DOUBLINGS: Final = 12


@dataclass(frozen=True, slots=True)
class Attempts:
    """How the last consolidations went: the last success, and the faults in a row since."""

    succeeded_at: datetime | None = None
    failures: int = 0
    failed_at: datetime | None = None


def due_at(attempts: Attempts, interval: timedelta, now: datetime) -> datetime:
    """Return when the next may start, `now` if at once.

    A time in the future is a wrong clock's and holds nobody up.
    """
    waits = [now]
    last, failed = attempts.succeeded_at, attempts.failed_at
    if last is not None and last <= now:
        waits.append(last + interval)
    if failed is not None and failed <= now and attempts.failures:
        waits.append(failed + _wait(attempts.failures, interval))
    return max(waits)


def _wait(failures: int, interval: timedelta) -> timedelta:
    return min(LONGEST, max(interval, _SHORTEST) * (1 << min(failures - 1, _DOUBLINGS)))


def succeeded(now: datetime) -> Attempts:
    """Return the state after a success."""
    return Attempts(now)


def failed(before: Attempts, now: datetime) -> Attempts:
    """Return the state after one more fault."""
    return Attempts(before.succeeded_at, before.failures + 1, now)


def part(waiting: int, failures: int) -> int:
    """Return how many of those that wait are taken: fewer each time, until the bad one is alone."""
    return max(1, waiting >> max(0, failures - 1)) if waiting else 0
