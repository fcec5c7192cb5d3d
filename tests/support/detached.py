"""Processes of a home that nobody waits for: supervisors and drainers, found and waited for."""

from __future__ import annotations

import os
import select
from pathlib import Path

DEADLINE = 60.0


def detached(home: Path) -> list[int]:
    """Return the processes that work for a home."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(home) in words and int(place.parent.name) != os.getpid():
            found.append(int(place.parent.name))
    return found


def rest(home: Path) -> None:
    """Wait until nobody works for a home any more."""
    # Looked for twice: who ended while we looked may have started another one just before.
    while running := detached(home) or detached(home):
        for pid in running:
            wait(pid)


def wait(pid: int) -> None:
    """Wait for the end of a process that need not be ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], DEADLINE)[0], f"process {pid} does not end"
    finally:
        os.close(descriptor)
