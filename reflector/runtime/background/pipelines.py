"""The pipelines that work in the background: what each offers to whoever begins or does its work."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:  # an event that finds nothing must not pay for what works
    from datetime import datetime

    from reflector.core.run import Run
    from reflector.runtime.bench import Bench
    from reflector.runtime.wiring import Context
    from reflector.store.state import Connection, State

SLOTS: Final = ("decisions", "experiences", "diary")
"""Every slot with a worker of its own; `reflector.runtime.<slot>.background` does its work."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did. `next_at` is when something can be done next, None when nobody knows."""

    runs: tuple[Run, ...]
    next_at: datetime | None


class Background(Protocol):
    """What the module of a slot offers."""

    def anything(self, connection: Connection) -> bool:
        """Tell whether anything waits at all: one cheap look, most events find nothing."""
        ...

    def at_once(self, context: Context, state: State, until: float) -> None:
        """Do what needs no model, at most until that time of the monotonic clock."""
        ...

    def wanted(self, context: Context, state: State) -> bool:
        """Tell whether a worker would find something to do now."""
        ...

    def work(self, bench: Bench) -> Round:
        """Do all that can be done now."""
        ...

    def newest(self, connection: Connection) -> int:
        """Return a number that grows with whatever is added to what waits."""
        ...


def background(slot: str) -> Background:
    """Return what does the work of a slot: most events need none of them."""
    return cast("Background", importlib.import_module(f"reflector.runtime.{slot}.background"))
