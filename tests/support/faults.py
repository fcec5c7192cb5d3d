"""A machine that refuses: the n-th call of one kind fails, or every call from the n-th on.

Doors are counted first (`nth=0` never fails) and then closed one call after the other. Only what
happens below one folder counts, in this process; databases, git and child processes are real.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import functools
import io
import os
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from reflector.core.errors import GitError
from reflector.vcs import porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.writes import Writes

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_SAYS = {errno.ENOSPC: "SQLITE_FULL", errno.EIO: "SQLITE_IOERR", errno.EACCES: "SQLITE_READONLY"}
LIBRARY = (
    *((Writes, name) for name in ("create_commit", "move_ref", "add_worktree")),
    *((Reads, name) for name in ("head", "plan_merge", "status")),
)

DOORS = (
    *("open", "write", "rename", "fsync", "mkdir", "unlink"),
    *("spawn", "git", "git-late", "library", "begin", "change", "commit"),
)


@dataclass
class Fault:
    """One kind of call that fails. `lasting`: every one from the n-th on, not the n-th alone."""

    root: Path
    door: str
    code: int = errno.ENOSPC
    nth: int = 0
    lasting: bool = False
    seen: int = 0
    hits: list[str] = field(default_factory=list)

    def hit(self, what: object) -> bool:
        """Count a call; tell whether it is to fail."""
        self.seen += 1
        fails = 0 < self.nth == self.seen or (self.lasting and 0 < self.nth <= self.seen)
        if fails:
            self.hits.append(f"{what}")
        return fails

    def meet(self, what: object) -> None:
        """Count a call; fail as the system would if it is its turn."""
        if self.hit(what):
            raise OSError(self.code, os.strerror(self.code), str(what))

    def below(self, place: Any) -> bool:
        """Tell whether a path or descriptor lies below the root."""
        if isinstance(place, int):
            with contextlib.suppress(OSError):
                place = Path(f"/proc/self/fd/{place}").readlink()
        return Path(os.fsdecode(place)).is_relative_to(self.root)


@contextmanager
def armed(fault: Fault) -> Iterator[Fault]:
    """Put the fault where its door is, for a time."""
    with contextlib.ExitStack() as undo:

        def put(owner: Any, name: str, new: Any) -> None:
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, new)

        PUT[fault.door](fault, put)
        yield fault


Put = Callable[[Any, str, Any], None]


def _open(fault: Fault, put: Put) -> None:
    real, low = io.open, os.open

    def opening(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if not isinstance(file, int) and set(mode) & set("wax+") and fault.below(file):
            fault.meet(file)
        return real(file, mode, *rest, **named)

    def opening_low(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & _WRITING and "dir_fd" not in named and fault.below(path):
            fault.meet(path)
        return low(path, flags, *rest, **named)

    put(io, "open", opening)
    put(builtins, "open", opening)
    put(os, "open", opening_low)


class _Written:
    """An open file whose writes may fail."""

    def __init__(self, file: Any, fault: Fault) -> None:
        self._file, self._fault = file, fault

    def write(self, content: Any) -> Any:
        if self._fault.hit(getattr(self._file, "name", "?")):
            half = content[: len(content) // 2]  # as a disk that fills up
            with contextlib.suppress(OSError):
                self._file.write(half)
                self._file.flush()
            raise OSError(self._fault.code, os.strerror(self._fault.code))
        return self._file.write(content)

    def __enter__(self) -> Self:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _write(fault: Fault, put: Put) -> None:
    real = io.open

    def opening(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        opened = real(file, mode, *rest, **named)
        regular = stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
        if regular and set(mode) & set("wax+") and fault.below(opened.fileno()):
            return _Written(opened, fault)
        return opened

    put(io, "open", opening)
    put(builtins, "open", opening)


def _calls(*names: str) -> Callable[[Fault, Put], None]:
    """Make calls of `os` fail whose first argument lies below the root."""

    def door(fault: Fault, put: Put) -> None:
        for name in names:
            real = getattr(os, name)

            def failing(
                place: Any, *rest: Any, _real: Any = real, _name: str = name, **named: Any
            ) -> Any:
                if named.get("dir_fd") is not None or fault.below(place):
                    fault.meet(f"{_name} {place}")
                return _real(place, *rest, **named)

            put(os, name, failing)

    return door


def _spawn(fault: Fault, put: Put) -> None:
    real: Any = subprocess.Popen.__init__

    def spawning(self: Any, command: Any, *rest: Any, **named: Any) -> None:
        words = command if isinstance(command, str) else " ".join(map(str, command))
        fault.meet(words[-200:])
        real(self, command, *rest, **named)

    put(subprocess.Popen, "__init__", spawning)


def _git(fault: Fault, put: Put) -> None:
    """Git says no and does nothing."""
    real = porcelain.run

    def running(scrubbed: Any, folder: Path, words: Any, extra: Any = None) -> Any:
        if fault.hit(words[-4:]):
            return 128, b"", f"fatal: {os.strerror(fault.code)}"
        return real(scrubbed, folder, words, extra)

    put(porcelain, "run", running)


def _git_late(fault: Fault, put: Put) -> None:
    """Git does it, and nobody hears of it: ended at its deadline."""
    real = porcelain.run

    def running(scrubbed: Any, folder: Path, words: Any, extra: Any = None) -> Any:
        done = real(scrubbed, folder, words, extra)
        if fault.hit(words[-4:]):
            raise GitError(f"git {words[0]} took longer than 30 s.", detail="timed out")
        return done

    put(porcelain, "run", running)


def _library(fault: Fault, put: Put) -> None:
    for owner, name in LIBRARY:
        real = getattr(owner, name)

        def reading(
            self: Any, *rest: Any, _real: Any = real, _name: str = name, **named: Any
        ) -> Any:
            if fault.hit(_name):
                raise GitError(f"Git could not do {_name}.", detail=os.strerror(fault.code))
            return _real(self, *rest, **named)

        put(owner, name, functools.wraps(real)(reading))


def _statements(begins: tuple[str, ...]) -> Callable[[Fault, Put], None]:
    def door(fault: Fault, put: Put) -> None:
        class Refusing(sqlite3.Connection):
            def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
                if sql.startswith(begins) and fault.hit(sql[:60]):
                    error = sqlite3.OperationalError(os.strerror(fault.code))
                    error.sqlite_errorname = _SAYS[fault.code]
                    raise error
                return super().execute(sql, *rest)

        put(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Refusing))

    return door


PUT: dict[str, Callable[[Fault, Put], None]] = {
    "open": _open,
    "write": _write,
    "rename": _calls("rename", "replace", "link"),
    "fsync": _calls("fsync"),
    "mkdir": _calls("mkdir"),
    "unlink": _calls("unlink", "remove", "rmdir"),
    "spawn": _spawn,
    "git": _git,
    "git-late": _git_late,
    "library": _library,
    "begin": _statements(("BEGIN",)),
    "change": _statements(("INSERT", "UPDATE", "DELETE")),
    "commit": _statements(("COMMIT",)),
}
