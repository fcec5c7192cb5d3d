"""Who watches a reflection that a program started: its own two functions, or nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def nobody(_line: str) -> None:
    """Tell nobody."""


def never() -> bool:
    """Go on to the end."""
    return False


@dataclass(frozen=True, slots=True)
class Eyes:
    """A watch made of a function that is told what goes on, and one that is asked to stop."""

    tell: Callable[[str], None] = nobody
    wish: Callable[[], bool] = never

    def say(self, line: str) -> None:
        """Tell it."""
        self.tell(line)

    def progress(self, line: str) -> None:
        """Tell it."""
        self.tell(line)

    def reading(self, path: Path, done: int, total: int) -> None:
        """Say nothing: what is read is in memory already."""

    def stop(self) -> bool:
        """Ask whether to stop now."""
        return self.wish()
