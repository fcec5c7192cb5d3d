"""Where benchmarks put their files, and which file system that is."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


@contextmanager
def workspace() -> Iterator[Path]:
    """Make a folder for many files in REFLECTOR_BENCH_DIR, /dev/shm or the temporary folder."""
    named = os.environ.get("REFLECTOR_BENCH_DIR")
    usual = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    parent = Path(named) if named else usual
    # A random name may look like a secret, for whose sake a hook would load all the rules.
    folder = parent / f"reflector-bench-{os.getpid()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def file_system(path: Path) -> str:
    """Return the type and mount point of the file system that holds a path."""
    best, kind = "", "unknown"
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return kind
    for line in lines:
        fields = line.split(" ")
        mount = fields[4]
        inside = str(path) == mount or str(path).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, fields[fields.index("-") + 1]
    return f"{kind} at {best}"


def environment(home: Path) -> dict[str, str]:
    """Return a small environment for processes: no settings of the person reach them."""
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Benchmark",
        "GIT_AUTHOR_EMAIL": "benchmark@localhost",
        "GIT_COMMITTER_NAME": "Benchmark",
        "GIT_COMMITTER_EMAIL": "benchmark@localhost",
    }
