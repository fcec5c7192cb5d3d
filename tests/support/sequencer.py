"""Processes that stop where a test says and go on when it says so: scripted interleavings.

An `Actor` is a fork of the test that does one thing with the real product, the real locks and a
connection to the database of its own. It stops before or after a named effect and waits, so that
another actor can act in the very gap that a race needs. Nothing polls and nothing sleeps.
"""

from __future__ import annotations

import json
import os
import select
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from reflector.runtime import front, reflect, spooled
from reflector.runtime import sweep as sweeping
from reflector.store import reservations, spool
from reflector.store.locks import Lock
from tests.support.kill_at import EFFECTS, MOVES, OTHERS, Now, around

SECONDS = 30.0

HERE: dict[str, tuple[tuple[object, ...], str, Now]] = {
    "presence": ((Lock,), "release", lambda lock: lock.path.name == "run-reflection.lock"),
    "ingest": ((Lock,), "release", lambda lock: lock.path.name == "ingest.lock"),
    "own": ((reflect,), "_reserve", lambda *_: True),
    "decided": ((front,), "launch", lambda *_: True),
    "handle": ((spooled,), "decide", lambda *_: True),
    "select": ((sweeping,), "select", lambda *_: True),
    "remove": ((sweeping._Broom,), "remove", lambda *_: True),
    "look": ((spool,), "pending", lambda *_: True),
}
"""Gaps of our own: when a lock is let go, when a decision is made but not acted on."""


class Actor:
    """One process at work. Points are `before:NAME` or `after:NAME`; `NAME#2` is the second time."""

    def __init__(self, work: Callable[[], object], *points: str) -> None:
        from_child, self._up = os.pipe()
        self._down, to_child = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(from_child)
            os.close(to_child)
            os._exit(self._live(work, points))
        os.close(self._up)
        os.close(self._down)
        self._hears = os.fdopen(from_child, "rb", buffering=0)
        self._says = os.fdopen(to_child, "wb", buffering=0)
        self.ended = False

    # In the test

    def at(self, point: str) -> None:
        """Wait until it has stopped at a point."""
        word, said = self._next()
        assert (word, said) == ("at", point), f"it is {word} {said}, not at {point}"

    def go(self) -> None:
        """Let it go on."""
        self._says.write(b"\n")

    def end(self, expected: str = "end") -> Any:
        """Wait for its end and return what it did; fails when it failed, or stopped somewhere."""
        word, said = self._next()
        assert word == expected, f"it is {word} {said}"
        os.waitpid(self.pid, 0)
        self.ended = True
        self._close()
        return json.loads(said)

    def fails(self) -> str:
        """Wait until it has failed, and return how."""
        return str(self.end("failed"))

    def busy(self) -> bool:
        """Tell whether it has neither stopped nor ended for a moment: it waits for a lock."""
        return not select.select([self._hears], [], [], 0.3)[0]

    def freeze(self) -> None:
        """Stop it wherever it is, as Ctrl-Z does."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def thaw(self) -> None:
        """Let a frozen one go on."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End it as a power cut would."""
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.ended = True
            self._close()

    def _next(self) -> tuple[str, str]:
        assert select.select([self._hears], [], [], SECONDS)[0], "it neither stops nor ends"
        line = self._hears.readline().decode()
        assert line, "it died"
        word, _, said = line.rstrip("\n").partition(" ")
        return word, said

    def _close(self) -> None:
        self._hears.close()
        self._says.close()

    # In the process

    def _live(self, work: Callable[[], object], points: tuple[str, ...]) -> int:
        try:
            for point in points:
                self._arm(point)
            self._tell(f"end {json.dumps(work())}")
        except BaseException:  # noqa: BLE001 - the top of the process
            self._tell(f"failed {json.dumps(traceback.format_exc())}")
            return 1
        return 0

    def _tell(self, line: str) -> None:
        os.write(self._up, f"{line}\n".encode())

    def _arm(self, point: str) -> None:
        when, _, rest = point.partition(":")
        name, _, times = rest.partition("#")
        left = int(times or 1)

        def stop() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._tell(f"at {point}")
                os.read(self._down, 1)

        if name in MOVES:
            moves: Now = lambda *args, **_named: args[4].value == name  # noqa: E731
            reservations.advance = around(reservations.advance, when, moves, stop)
            return
        owners, attribute, now = (EFFECTS | OTHERS | HERE)[name]
        wrapped = around(getattr(owners[0], attribute), when, now, stop)
        for owner in owners:
            setattr(owner, attribute, wrapped)


@contextmanager
def actor(work: Callable[[], object], *points: str) -> Iterator[Actor]:
    """Start an actor; whatever happens, it is gone afterwards."""
    made = Actor(work, *points)
    try:
        yield made
    finally:
        made.kill()
