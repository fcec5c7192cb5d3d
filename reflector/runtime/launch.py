"""One child of the supervisor: started, listened to, ended with all its descendants."""

from __future__ import annotations

import contextlib
import selectors
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import psutil

from reflector.core.ambient import Clock
from reflector.core.errors import RunFailedError
from reflector.runtime.processes import GRACE, adopt_orphans, end_all

End = Literal["exited", "deadline", "stopped"]
CHILD = (sys.executable, "-I", "-m", "reflector.runtime.child")
"""How our child is started. -I: neither the environment nor the working directory adds code."""

_TICK = 0.2
_LINE = 4096


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended. `code` is its exit code, negative for a signal."""

    how: End
    code: int


@dataclass(frozen=True, slots=True)
class Listening:
    """What the supervisor does while its child works.

    `on_ready` saves that the child runs before it is told to go; `stop` is asked several times a
    second whether a person wants to stop.
    """

    on_ready: Callable[[], None]
    on_progress: Callable[[str], None]
    on_tick: Callable[[], None]
    stop: Callable[[], bool]


def environment(run_folder: Path, worktree: Path, agent_id: str, run_id: str) -> dict[str, str]:
    """Build a child's environment from nothing: no variable of the person reaches it."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(run_folder / "home"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "MEMORY_DIR": str(worktree),
        "TRANSCRIPT_PATH": str(run_folder / "payload.json"),
        "AGENT_ID": agent_id,
        "REFLECTOR_CHILD": "1",
        "REFLECTOR_RUN": run_id,
    }


def run_child(
    command: Sequence[str],
    run_folder: Path,
    environ: Mapping[str, str],
    clock: Clock,
    seconds: float,
    listening: Listening,
    *,
    grace: float = GRACE,
) -> Ended:
    """Start the child of a run and listen until it ended, and everything below it with it.

    Raises RunFailedError when it cannot be started.
    """
    adopt_orphans()
    child = _start([*command, str(run_folder)], run_folder, environ)
    try:
        how = _listen(child, clock, clock.monotonic() + seconds, listening)
        if how == "exited":
            # Its output ends a moment before itself: a signal now would falsify its exit code.
            with contextlib.suppress(psutil.TimeoutExpired):
                child.wait(grace)
    finally:
        end_all(child, environ["REFLECTOR_RUN"], grace)
        code = int(child.wait())
        for stream in (child.stdin, child.stdout):
            _close(stream)
    return Ended(how, code)


def _start(command: Sequence[str], run_folder: Path, environ: Mapping[str, str]) -> psutil.Popen:
    try:
        with (run_folder / "child.log").open("wb") as log:
            return psutil.Popen(
                command,
                env=dict(environ),
                cwd=run_folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        said = f"{error.filename or command[0]}: {error.strerror}"
        raise RunFailedError(f"The child could not be started: {said}.") from error


def _close(stream: IO[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        stream.close()


def _listen(child: psutil.Popen, clock: Clock, deadline: float, listening: Listening) -> End:
    hearing = _Hearing(child.stdin, listening)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if listening.stop():
                return "stopped"
            if clock.monotonic() > deadline:
                return "deadline"
            listening.on_tick()
            ended = child.poll() is not None
            if not selector.select(0 if ended else _TICK):
                if ended:  # something below it still holds the pipe open
                    return "exited"
                continue
            chunk = child.stdout.read1(_LINE)
            if not chunk:
                return "exited"
            hearing.take(chunk)


class _Hearing:
    """What a child says, line by line; anything that is not our protocol is passed over."""

    def __init__(self, stdin: IO[bytes], listening: Listening) -> None:
        self._stdin = stdin
        self._listening = listening
        self._ready = False
        self._pending = b""

    def take(self, chunk: bytes) -> None:
        *lines, pending = (self._pending + chunk).split(b"\n")
        self._pending = pending[-_LINE:]
        for line in lines:
            word, _, rest = line.decode("utf-8", "replace").partition(" ")
            if word == "progress":
                self._listening.on_progress(rest)
            elif word == "ready" and not self._ready:
                self._ready = True
                self._listening.on_ready()
                self._go()

    def _go(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it is gone already; its end says so
            self._stdin.write(b"go\n")
            self._stdin.flush()
