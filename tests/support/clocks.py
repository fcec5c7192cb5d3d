"""Time and chance that a test holds in its hand."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from reflector.core.ambient import Ambient

_OWN = f"{os.getpid() % 0x10000:04x}"
WHEN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class FakeClock:
    """Goes on only when it is told to, or when somebody sleeps."""

    def __init__(self, start: datetime = WHEN) -> None:
        self._start = start
        self.passed = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


class FakeChance:
    """Counts instead of throwing dice."""

    def __init__(self) -> None:
        self.drawn = 0

    def hex(self, digits: int) -> str:
        self.drawn += 1
        return f"{self.drawn:0{digits}x}"


class OwnRuns(Ambient):
    """Counted run ids that no test in another process has at the same time.

    What a dead supervisor left is found by its run's id on the whole machine, and ended: tests
    beside this one would end each other's children.
    """

    def run_id(self) -> str:
        began, _, drawn = super().run_id().partition("-")
        return f"{began}-{_OWN}{drawn[-4:]}"


def ambient(clock: FakeClock | None = None) -> Ambient:
    return Ambient(clock or FakeClock(), FakeChance())
