"""Why a pipeline does nothing now, and when it may do something."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reflector.core import park
from reflector.core.park import ParkState

Why = Literal[
    "disabled",
    "no_model",
    "nothing",
    "kept_tip",
    "held",
    "day_runs",
    "day_cost",
    "parked",
    "back_off",
    "off_peak",
    "failed",
]
"""`held`: automatic runs are off, since the journal is not whole or another process is at work.
`off_peak`: it is done at hours that a person chose."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Nothing is done now. `until` is when something may be, None when nobody knows."""

    why: Why
    until: datetime | None = None


def passed(parked: ParkState, now: datetime, *, automatic: bool) -> Waits | park.Probe | None:
    """Return what the circuit breaker says of a call or a run: it waits, it probes, or it may go."""
    match park.gate(parked, now, automatic=automatic):
        case park.Refused(until):
            return Waits("parked", until)
        case park.Probe() as probe:
            return probe
        case park.Admit():
            return None
