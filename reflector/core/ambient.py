"""The only source of time, ids and chance."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the program asks of time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(tz=UTC)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Chance(Protocol):
    """What the program asks of chance."""

    def hex(self, digits: int) -> str:
        """Return that many random hexadecimal digits."""
        ...


class SystemChance:
    """The machine's own randomness."""

    def hex(self, digits: int) -> str:
        """Return that many random hexadecimal digits."""
        import secrets  # noqa: PLC0415 - drags much along, and most commands draw nothing

        return secrets.token_hex((digits + 1) // 2)[:digits]


@dataclass(frozen=True, slots=True)
class Ambient:
    """Time and chance, passed in wherever they are needed."""

    clock: Clock
    chance: Chance

    def now(self) -> str:
        """Return the present instant as RFC 3339 UTC with milliseconds."""
        return stamp(self.clock.now())

    def run_id(self) -> str:
        """Mint a run id: sortable by time, never used twice."""
        return f"{self.clock.now():%Y%m%dT%H%M%S}-{self.chance.hex(8)}"

    def token(self) -> str:
        """Mint the secret that one owner of a run knows."""
        return self.chance.hex(32)


def system() -> Ambient:
    """Return the real clock and real chance."""
    return Ambient(SystemClock(), SystemChance())


def stamp(instant: datetime) -> str:
    """Write an aware instant as RFC 3339 UTC with milliseconds (`2026-11-30T12:00:00.000Z`)."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{instant.microsecond // 1000:03d}Z"
    )


def instant(text: str) -> datetime:
    """Read what `stamp` wrote."""
    return datetime.fromisoformat(text)
