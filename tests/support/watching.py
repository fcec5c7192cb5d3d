"""A watch that nobody looks through: remembers what it was told."""

from __future__ import annotations

from pathlib import Path


class QuietWatch:
    """Remembers lines; stops when `wish` says so."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.lines: list[str] = []
        self._left = stop_after

    def say(self, line: str) -> None:
        self.lines.append(line)

    def progress(self, line: str) -> None:
        self.lines.append(line)

    def reading(self, path: Path, done: int, total: int) -> None:
        self.lines.append(f"{path.name} {done}/{total}")

    def stop(self) -> bool:
        if self._left is None:
            return False
        self._left -= 1
        return self._left < 0
