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

from reflector.core.ambient import Clock
from reflector.runtime.processes import adopt_orphans, end_all

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
) -> Ended:
    """Start the child of a run and listen until it ended, and everything below it with it."""
    adopt_orphans()
    with (run_folder / "child.log").open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*command, str(run_folder)],
            env=dict(environ),
            cwd=run_folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    try:
        how = _listen(child, clock, clock.monotonic() + seconds, listening)
    finally:
        end_all(child.pid, environ["REFLECTOR_RUN"])
        code = child.wait()
        for stream in (child.stdin, child.stdout):
            _close(stream)
    return Ended(how, code)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(BrokenPipeError):
            stream.close()


def _listen(
    child: subprocess.Popen[bytes], clock: Clock, deadline: float, listening: Listening
) -> End:
    if child.stdout is None or child.stdin is None:  # both were asked for as pipes
        raise AssertionError
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if listening.stop():
                return "stopped"
            if clock.monotonic() > deadline:
                return "deadline"
            listening.on_tick()
            if not selector.select(_TICK):
                continue
            chunk = child.stdout.read1(_LINE)  # type: ignore[attr-defined]
            if not chunk:
                return "exited"
            *lines, pending = (pending + chunk).split(b"\n")
            pending = pending[-_LINE:]
            for line in lines:
                _heard(line, child.stdin, listening)


def _heard(line: bytes, stdin: IO[bytes], listening: Listening) -> None:
    word, _, rest = line.decode("utf-8", "replace").partition(" ")
    if word == "ready":
        listening.on_ready()
        with contextlib.suppress(BrokenPipeError):  # it is gone already; its end says so
            stdin.write(b"go\n")
            stdin.flush()
    elif word == "progress":
        listening.on_progress(rest)
