"""Divides the time of a process among named parts; a part inside another counts once."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


class Stopwatch:
    """Runs on one part at a time: the innermost."""

    def __init__(self, first: str, since: float) -> None:
        """Begin with a part that has been running since this `time.monotonic()`."""
        self.spent: dict[str, float] = {}
        self._open = [first]
        self._since = since

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Run on this part inside the block."""
        self._lap()
        self._open.append(name)
        try:
            yield
        finally:
            self._lap()
            self._open.pop()

    def turn(self, name: str) -> None:
        """Go on with another part in the place of the innermost."""
        self._lap()
        self._open[-1] = name

    def timed(self, name: str, work: Callable[_Given, _Got]) -> Callable[_Given, _Got]:
        """Return the function with its time counted as this part."""

        @functools.wraps(work)
        def call(*given: _Given.args, **named: _Given.kwargs) -> _Got:
            with self.part(name):
                return work(*given, **named)

        return call

    def stop(self) -> dict[str, float]:
        """Return the seconds of every part."""
        self._lap()
        return self.spent

    def _lap(self) -> None:
        now = time.monotonic()
        name = self._open[-1]
        self.spent[name] = self.spent.get(name, 0.0) + now - self._since
        self._since = now
