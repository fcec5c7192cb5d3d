"""Which runs wait for a person, since when and until when: known without a git library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from reflector.core.ambient import instant, stamp
from reflector.core.run import Run
from reflector.core.sweep import RETENTION_DAYS
from reflector.store import reviews
from reflector.store.state import State

BY_SETTING = "A person approves each merge."
DAYS = RETENTION_DAYS["ref"]
_WARNING = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Waits:
    """A run that waits for a person. At `until` it is given up."""

    run: Run
    since: datetime
    until: datetime


def waits(state: State) -> list[Waits]:
    """Return the runs that wait for a person, the oldest first."""
    return [_waits(run) for run in reviews.waiting(state.connection)]


def _waits(run: Run) -> Waits:
    since = instant(run.reserved_at)
    return Waits(run, since, since + timedelta(days=DAYS))


def told(waiting: Sequence[Waits], now: datetime) -> Iterator[tuple[str, str]]:
    """Yield code and sentence of what a person should know of what waits."""
    if len(waiting) == 1:
        yield "review_waits", "1 run waits for your review: `reflector review list`."
    elif waiting:
        yield "review_waits", f"{len(waiting)} runs wait for your review: `reflector review list`."
    for each in waiting:
        if each.until - now <= _WARNING:
            yield "review_ends", _ending(each)


def _ending(each: Waits) -> str:
    run, since, until = each.run.id, stamp(each.since), stamp(each.until)
    return (
        f"Run {run} waits for your review since {since} and is given up at {until}: "
        f"`reflector review show {run}`."
    )
