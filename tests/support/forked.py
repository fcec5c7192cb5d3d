"""Commands in processes of their own that need not import the product first.

`python -m tests.support.forked FD` imports what commands import, and forks a process for each
request that comes over the socket. Such a process has its own environment, folder and streams and
runs `python -m reflector` from its first line. What it saves is the interpreter's start and the
imports, which are most of a short command; where those are in question, start a real one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pickle
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LATE = (
    *("git", "git.cmd", "runtime.child", "runtime.loop", "surface.cli.main"),
    *(f"surface.cli.{name}" for name in ("ingest", "reflect", "status", "runs", "event")),
    *(f"surface.cli.{name}" for name in ("init", "prompt", "doctor", "sweep", "show")),
)
"""What most commands import, and only when they need it. Importing does nothing else."""


Before = Callable[[], object]


def run(
    words: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    seconds: float,
    before: Before | None = None,
) -> tuple[int, bytes, bytes]:
    """Run one command: its exit code (negative: the signal) and what it wrote to both streams.

    `before` is called in its process first: a function that a module has by its name.
    Raises TimeoutExpired when it takes longer, or something that it left holds its streams.
    """
    pairs = [os.pipe() for _ in range(4)]
    (theirs_asked, asked), (told, theirs_told), (out, theirs_out), (err, theirs_err) = pairs
    theirs = [theirs_asked, theirs_told, theirs_out, theirs_err]
    socket.send_fds(_nursery(), [b"."], theirs)
    for each in theirs:
        os.close(each)
    with open(asked, "wb") as stream:  # noqa: PTH123 - a descriptor
        pickle.dump(([*words], {**environ}, str(folder), before), stream)
    said = _gathered((told, out, err), seconds)
    pid, _, code = said[told].decode().partition("\n")
    if not said.pop(-1, b"all"):
        os.kill(int(pid), signal.SIGKILL)
        raise subprocess.TimeoutExpired([*words], seconds)
    return int(code), said[out], said[err]


def _gathered(streams: Sequence[int], seconds: float) -> dict[int, bytes]:
    """Read streams to their ends and close them; with a key of -1 if there was no end."""
    said = dict.fromkeys(streams, b"")
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        for each in streams:
            waiting.register(each, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(deadline - time.monotonic())
            for key, _ in ready:
                more = os.read(key.fd, 1 << 16)
                said[key.fd] += more
                if not more:
                    waiting.unregister(key.fd)
            if not ready:
                said[-1] = b""
                break
    for each in streams:
        os.close(each)
    return said


@functools.cache
def _nursery() -> socket.socket:
    """Start the process that forks; it ends when ours does."""
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    environ = {"LANG": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent"}
    environ["PATH"] = os.environ["PATH"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.forked", str(number)],
        cwd=ROOT,
        env=environ,
        pass_fds=[number],
        # As those that it forks will have: nothing to read, and pipes, which nobody can seek in.
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    theirs.close()

    def closed() -> None:
        ours.close()
        process.communicate(timeout=10)

    atexit.register(closed)
    return ours


# In the process that forks


def serve(number: int) -> None:
    """Fork for each request, until nobody can ask any more."""
    for name in LATE:
        importlib.import_module(name if name.startswith("git") else f"reflector.{name}")
    gc.freeze()
    with socket.socket(fileno=number) as line:
        while True:
            some, theirs, _, _ = socket.recv_fds(line, 1, 4)
            _bury()
            if not some:
                return
            if os.fork() == 0:
                line.close()
                os._exit(_wait(*theirs))
            for each in theirs:
                os.close(each)


def _bury() -> None:
    """Let those go that have waited to their command's end."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _wait(asked: int, told: int, out: int, err: int) -> int:
    """Be the parent of one command, and tell how it ended."""
    pid = os.fork()
    if pid == 0:
        os.close(told)
        os._exit(_live(asked, out, err))
    for each in (asked, out, err):
        os.close(each)
    os.write(told, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    os.write(told, b"%d" % os.waitstatus_to_exitcode(status))
    return 0


def _live(asked: int, out: int, err: int) -> int:
    """Be one command."""
    with open(asked, "rb") as stream:
        words, environ, folder, before = pickle.load(stream)
    for number, wanted in ((out, 1), (err, 2)):
        os.dup2(number, wanted)
        os.close(number)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.path[0] = folder
    sys.argv = ["reflector", *words]
    try:
        if before:
            before()
        runpy.run_module("reflector", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:  # noqa: BLE001 - the top of the process
        traceback.print_exc()
    return 1


if __name__ == "__main__":
    serve(int(sys.argv[1]))
