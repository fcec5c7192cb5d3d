"""Git's own locks: `index.lock`, signed with our name, what lies beside it, and the passing ones."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

_LOCK_WAIT_SECONDS = 5.0
_LOCK_STEP_SECONDS = 0.1
_PASSING = ("refs/**/*.lock", "packed-refs.lock", "config.lock", "HEAD.lock")


def take(git_dir: Path, run_id: str, token: str, sleep: Callable[[float], None]) -> bool:
    """Create `index.lock`, so that a person's commit refuses meanwhile; False when git holds it."""
    lock = git_dir / "index.lock"
    waited = 0.0
    while not _created(lock, copy_path(git_dir, run_id), _signed(run_id, token)):
        if waited >= _LOCK_WAIT_SECONDS:
            return False
        sleep(_LOCK_STEP_SECONDS)
        waited += _LOCK_STEP_SECONDS
    return True


def our_index_lock(git_dir: Path, run_id: str, token: str) -> bool:
    """Tell whether the repository's `index.lock` was made by this run."""
    with contextlib.suppress(FileNotFoundError):
        return (git_dir / "index.lock").read_bytes() == _signed(run_id, token)
    return False


def release(git_dir: Path, run_id: str, token: str) -> None:
    """Remove what a dead integration left before main moved: our lock, our copy of the index."""
    shutil.rmtree(files_path(git_dir, run_id), ignore_errors=True)
    copy_path(git_dir, run_id).unlink(missing_ok=True)
    copy_path(git_dir, run_id).with_suffix(".index.lock").unlink(missing_ok=True)
    if our_index_lock(git_dir, run_id, token):
        (git_dir / "index.lock").unlink(missing_ok=True)


def passing_locks(git_dir: Path) -> list[Path]:
    """Return the locks that git holds for moments, whoever holds them.

    Not `index.lock`: a person's commit holds it for as long as its editor is open, and no process
    tells of it.
    """
    found: list[Path] = []
    for pattern in _PASSING:
        with contextlib.suppress(FileNotFoundError):  # of a folder that git removes meanwhile
            found += git_dir.glob(pattern)
    return found


def copy_path(git_dir: Path, run_id: str) -> Path:
    """Return where the copy of the index lies that a change works on."""
    return git_dir / f"reflector-{run_id}.index"


def files_path(git_dir: Path, run_id: str) -> Path:
    """Return the folder in which a change makes its files ready."""
    return git_dir / f"reflector-{run_id}.files"


def copy_index(git_dir: Path, run_id: str) -> Path:
    """Copy the index; raise FileNotFoundError when there is none."""
    copy = copy_path(git_dir, run_id)
    copy.with_suffix(".index.lock").unlink(missing_ok=True)
    # With its times: a file changed within the tick of the index's own time is compared by
    # content, and a copy from a moment later would take it for unchanged.
    shutil.copy2(git_dir / "index", copy)
    return copy


def settle_index(git_dir: Path, copy: Path) -> None:
    """Make the copy the index (e), before our lock goes.

    Straight over the index and not by way of `index.lock`: a death between the two renames would
    leave a lock that nobody can tell from a living git's.
    """
    with copy.open("rb") as file:
        os.fsync(file.fileno())
    copy.replace(git_dir / "index")


def _created(lock: Path, beside: Path, signed: bytes) -> bool:
    """Create the lock with our name in it at once: half of a name would be nobody's, for ever."""
    try:
        beside.write_bytes(signed)
        os.link(beside, lock)
    except FileExistsError:
        return False
    finally:
        beside.unlink(missing_ok=True)
    return True


def _signed(run_id: str, token: str) -> bytes:
    return f"reflector {run_id} {token}\n".encode()
