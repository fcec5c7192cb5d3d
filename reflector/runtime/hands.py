"""Who works for an identity on a daemon's behalf: a process of its own, started and watched."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reflector.runtime.detached import start
from reflector.runtime.front import SUPERVISOR
from reflector.runtime.wiring import Context


class Working(Protocol):
    """A supervisor at work."""

    def code(self) -> int | None:
        """Return its exit code, None while it works."""
        ...

    def end(self) -> None:
        """Ask it to end cleanly."""
        ...

    def kill(self) -> None:
        """End it by force."""
        ...


class Hands(Protocol):
    """Whatever can work for an identity."""

    def start(self, theirs: Context) -> Working:
        """Begin to work: at most one new run, then the sweep."""
        ...


@dataclass(frozen=True, slots=True)
class Process:
    """A supervisor in a process."""

    process: subprocess.Popen[bytes]

    def code(self) -> int | None:
        """Return its exit code, None while it works."""
        return self.process.poll()

    def end(self) -> None:
        """Ask it to end: it cancels its run and cleans up."""
        self.process.terminate()

    def kill(self) -> None:
        """End it by force; the next supervisor finds what it left."""
        self.process.kill()


@dataclass(frozen=True, slots=True)
class Detached:
    """Starts the ordinary detached supervisor, for one run."""

    supervisor: Sequence[str] = SUPERVISOR

    def start(self, theirs: Context) -> Process:
        """Start it; it says by its exit code how that went."""
        return Process(start(theirs, self.supervisor, "1"))
