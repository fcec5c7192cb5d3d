"""A foreground command's eyes: progress on stderr, and the wish to stop."""

from __future__ import annotations

from pathlib import Path

from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.stop import Stop


class TerminalWatch:
    """Shows what happens on the terminal."""

    def __init__(self, out: Output, stop: Stop) -> None:
        """Write through `out`, ask `stop`."""
        self._out = out
        self._stop = stop

    def say(self, line: str) -> None:
        """Tell something that should be seen even when nobody looks all the time."""
        self._out.note(safe(line))

    def progress(self, line: str) -> None:
        """Show what is going on right now."""
        self._out.progress(safe(line))

    def reading(self, path: Path, done: int, total: int) -> None:
        """Show how far a transcript has been read, in bytes."""
        percent = 100 * done // total if total else 100
        self._out.progress(safe(f"reading {path.name}: {percent} %"))

    def stop(self) -> bool:
        """Tell whether a person wants to stop."""
        return self._stop()
