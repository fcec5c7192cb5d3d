"""Processes without root's powers, and disks that are full or read-only on purpose."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522


def powerless() -> None:
    """In a process of its own: let root obey the permissions of files as everybody must.

    Another user could not even read the interpreter of some machines; the powers go instead. For
    those who are not root there is nothing to take away.
    """
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in range(64):
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # for what it starts
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        none = (ctypes.c_uint32 * 6)()
        if libc.capset(header, none):  # for itself
            raise OSError


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a real file system of this size. Skips where nobody may mount."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode != 0:
        import pytest

        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Take up all room of a small disk but `leave` bytes; return the file that does."""
    status = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(max(status.f_bavail * status.f_frsize - leave, 0)))
    return filler


def remount(disk: Path, how: str) -> None:
    """Mount a small disk again, `ro` or `rw`."""
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)
