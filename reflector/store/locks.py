"""Kernel locks: short exclusive sections, and the presence of a run's owner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reflector.core.ambient import Clock
from reflector.core.errors import BusyError, HomeError

try:
    import fcntl
except ImportError:  # Windows has no flock; said when a lock is first needed
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a run, recorded for people: the kernel lock is the proof of life, not this."""

    host: str
    boot: str
    pid: int
    token: str


def owner(token: str) -> Owner:
    """Describe this process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        boot = ""
    return Owner(os.uname().nodename if hasattr(os, "uname") else "", boot, os.getpid(), token)


class Lock:
    """A file lock of the kernel: it ends with its process, however that ends."""

    def __init__(self, path: Path) -> None:
        """Name the lock; nothing is taken yet."""
        self.path = path
        self._descriptor: int | None = None

    def take(self, *, shared: bool = False) -> bool:
        """Try once to take the lock; tell whether it is ours now."""
        if fcntl is None:
            raise HomeError("Reflector needs POSIX file locks.", hint="On Windows, use WSL.")
        # Descriptors are close-on-exec by default, so no child keeps the lock alive.
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise HomeError(
                f"The lock {self.path} cannot be used: {error.strerror}.",
                hint="Check that its folder is there and that you may write in it; "
                "`reflector init` makes folders that are missing.",
                path=str(self.path),
            ) from error
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def held(
    path: Path, clock: Clock, what: str, *, seconds: float = 30, shared: bool = False
) -> Iterator[None]:
    """Hold a lock for a short section, waiting at most `seconds`.

    Raises BusyError, naming `what` is being done, when somebody else keeps it.
    """
    lock = Lock(path)
    deadline = clock.monotonic() + seconds
    while not lock.take(shared=shared):
        if clock.monotonic() >= deadline:
            raise BusyError(
                f"Another Reflector process has been {what} for {seconds:.0f} seconds.",
                hint="Try again in a moment.",
                lock=str(path),
            )
        clock.sleep(_PAUSE)
    try:
        yield
    finally:
        lock.release()
