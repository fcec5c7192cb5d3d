"""Kernel locks: short exclusive sections, and the presence of a run's owner."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from reflector.core.ambient import Clock
from reflector.core.errors import BusyError, HomeError

try:
    import fcntl
except ImportError:  # Windows has no flock; said when a lock is first needed
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.05
_START = 19
"""Where the start stands in `/proc/<pid>/stat`, counted from behind the name."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a run, recorded for people: the kernel lock is the proof of life, not this."""

    host: str
    boot: str
    pid: int
    token: str
    started: str = ""


def owner(token: str) -> Owner:
    """Describe this process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        boot = ""
    host, pid = os.uname().nodename if hasattr(os, "uname") else "", os.getpid()
    return Owner(host, boot, pid, token, process_start(pid))


def process_start(pid: int) -> str:
    """Return what tells a process from a later one with its id; "" if there is none to be read.

    In ticks since the boot: a clock that is set does not change it.
    """
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    # The name in parentheses may hold blanks and parentheses itself.
    fields = line.rpartition(b")")[2].split()
    return fields[_START].decode("ascii") if len(fields) > _START else ""


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

    def sign(self, who: Owner) -> None:
        """Write into the lock that is ours who holds it."""
        if self._descriptor is None:
            raise HomeError(f"The lock {self.path} is not ours to sign.")
        text = json.dumps(asdict(who)).encode("ascii")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text, 0)

    def signature(self) -> Owner | None:
        """Return who signed the lock last; the kernel alone knows whether it is still held."""
        try:
            return Owner(**json.loads(self.path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

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
