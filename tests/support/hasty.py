"""A supervisor whose minute is a second: `python hasty.py HOME CHILD…`, until nothing waits.

Its haste begins with what its child says: a busy machine may take long to start one.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reflector.core.ambient import Ambient, SystemClock
from reflector.runtime import launch, supervisor
from reflector.runtime.loop import REFLECTION, drain
from reflector.runtime.wiring import context
from tests.support.watching import QuietWatch


class Hasty(SystemClock):
    """Sixty times as fast, once it has begun."""

    began: float | None = None

    def begin(self) -> None:
        self.began = super().monotonic()

    def monotonic(self) -> float:
        now = super().monotonic()
        return now if self.began is None else self.began + (now - self.began) * 60


class Telling(QuietWatch):
    """Says at once what its child says."""

    def __init__(self, clock: Hasty) -> None:
        super().__init__()
        self._clock = clock

    def progress(self, line: str) -> None:
        self._clock.begin()
        print(line, flush=True)


def main(home: str, child: list[str]) -> None:
    """Be the supervisor."""
    run_child = launch.run_child
    setattr(  # noqa: B010 - a narrower type on purpose
        supervisor, "run_child", lambda *words: run_child(*words, grace=0.3)
    )
    found, clock = context(home), Hasty()
    found = replace(found, ambient=Ambient(clock, found.ambient.chance))
    done = drain(found, REFLECTION, Telling(clock), child) or []
    for run in done:
        print(run.id, run.outcome, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    os._exit(0)
