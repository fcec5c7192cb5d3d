"""The clock of a file system, which may stand still for milliseconds, or for a second."""

from __future__ import annotations

from pathlib import Path


def ticked(file: Path) -> None:
    """Wait until a change of this file gets another time than its last one."""
    probe = file.with_name(f"{file.name}.tick")
    while True:
        probe.touch()
        now = probe.stat().st_ctime_ns
        probe.unlink()
        if now > file.stat().st_ctime_ns:
            return
