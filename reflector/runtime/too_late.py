"""How often what is shown beside prompts came too late, counted by day for a week."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from reflector.core.ambient import stamp
from reflector.core.errors import ReflectorError
from reflector.runtime.wiring import Context
from reflector.store import scheduling
from reflector.store.state import Connection, State

_SHOWN = "beside_shown"
_LATE = "beside_late"
_DAYS = 7
_BUSY_SECONDS = 0.2
_OFTEN = 5
_ONE_IN = 4


@dataclass(frozen=True, slots=True)
class Week:
    """How many prompts of the last seven days were shown something, and how many went on before."""

    shown: int
    late: int

    @property
    def total(self) -> int:
        """Return how many had something to be shown."""
        return self.shown + self.late

    @property
    def slow(self) -> bool:
        """Tell whether it is late so often that the waiting is hardly worth it."""
        return self.late >= _OFTEN and self.late * _ONE_IN >= self.total

    @property
    def sentence(self) -> str:
        """Say it to a person."""
        return (
            f"Of {self.total} prompts in {_DAYS} days that recall something "
            f"{self.late} went on without it: it came later than a prompt waits, 0.4 s."
        )


def note(context: Context, *, late: bool) -> None:
    """Count a prompt that recalled something. What cannot be counted now is not: nobody waits."""
    with (
        contextlib.suppress(ReflectorError, OSError),
        context.state(durability="NORMAL", busy_seconds=_BUSY_SECONDS) as state,
        state.transaction() as connection,
    ):
        add(connection, context.ambient.now()[:10], late=late)


def add(connection: Connection, day: str, *, late: bool) -> None:
    """Count one more on a day (UTC, `2026-11-30`), in a transaction; only a week of days is kept."""
    name = _LATE if late else _SHOWN
    counts = scheduling.counts(connection, name)
    counts[day] = counts.get(day, 0) + 1
    scheduling.set_mark(connection, name, json.dumps(dict(sorted(counts.items())[-_DAYS:])))


def week(connection: Connection, now: datetime) -> Week:
    """Return the counts of the last seven days."""
    first = stamp(now - timedelta(days=_DAYS - 1))[:10]
    shown, late = (
        sum(count for day, count in scheduling.counts(connection, name).items() if day >= first)
        for name in (_SHOWN, _LATE)
    )
    return Week(shown, late)


def told(context: Context, state: State) -> Iterator[tuple[str, str]]:
    """Say how many prompts went on without what they recall, as a notice, where any did."""
    if context.settings.flag("recall.inject"):
        found = week(state.connection, context.ambient.clock.now())
        if found.late:
            yield "beside_late", found.sentence
