"""Processes of a run: born tied to their parent, ended to the last one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterable

import psutil

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 5

GRACE = 10.0
"""Seconds that a process has between the request to end and its end by force."""


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux; elsewhere a no-op)."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make orphans below this process its own children, so that none escapes (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def end_all(child: psutil.Process, run_id: str, grace: float = GRACE) -> None:
    """End a run's process and everything below it: TERM, `grace` seconds, KILL, until none is left.

    A grandchild that forked twice into a session of its own is found too: below this process,
    which adopts orphans, or by the run id in its environment.
    """
    for round_number in range(_ROUNDS):
        alive = _family(child, run_id)
        if not alive:
            return
        _signal(alive, signal.SIGTERM if round_number == 0 else signal.SIGKILL)
        psutil.wait_procs(alive, timeout=grace)


def _family(child: psutil.Process, run_id: str) -> list[psutil.Process]:
    found = {process.pid: process for process in marked(run_id, _where_orphans_go())}
    with contextlib.suppress(psutil.NoSuchProcess):
        found |= {process.pid: process for process in child.children(recursive=True)}
    # The very object that started it: whoever else reaps it takes its exit code away.
    found[child.pid] = child
    return [process for process in found.values() if _running(process)]


def _running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _where_orphans_go() -> Iterable[psutil.Process]:
    # On Linux to us: see adopt_orphans.
    ours = psutil.Process().children(recursive=True)
    return ours if psutil.LINUX else psutil.process_iter()


def end_strays(run_id: str) -> None:
    """End what is left of a run whose supervisor is dead, wherever it is."""
    for process in marked(run_id, psutil.process_iter()):
        end_all(process, run_id)


def marked(run_id: str, among: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes whose environment says that they belong to this run."""
    found = []
    for process in among:
        if process.pid == os.getpid():
            continue
        try:
            if process.environ().get("REFLECTOR_RUN") == run_id:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue
