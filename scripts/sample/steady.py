"""Time that stands still until it is told to go on, and chance that counts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from reflector.core.ambient import Ambient


@dataclass
class Still:
    """An instant of the past; waiting and timing are real."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def pass_by(self, **span: float) -> None:
        self.at += timedelta(**span)


@dataclass
class Counting:
    """Numbers in order, in the place of chance."""

    drawn: int = 0

    def hex(self, digits: int) -> str:
        self.drawn += 1
        return f"{self.drawn * 2654435761 % 16**digits:0{digits}x}"


def steady(at: datetime) -> Ambient:
    """Return time and chance of one instant."""
    return Ambient(Still(at), Counting())
