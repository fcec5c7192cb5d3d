"""Who watches a command: told what happens, asked whether to stop."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Watch(Protocol):
    """A foreground command's eyes. Lines never hold transcript or memory text."""

    def say(self, line: str) -> None:
        """Tell something that should be seen even when nobody looks all the time."""
        ...

    def progress(self, line: str) -> None:
        """Show what is going on right now."""
        ...

    def reading(self, path: Path, done: int, total: int) -> None:
        """Show how far a transcript has been read, in bytes."""
        ...

    def stop(self) -> bool:
        """Tell whether a person wants to stop."""
        ...
