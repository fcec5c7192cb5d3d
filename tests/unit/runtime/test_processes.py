"""Whatever a run started is ended with it: asked first, then forced, to the last one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from reflector.core.ambient import SystemClock
from reflector.runtime.processes import adopt_orphans, end_all, end_strays, marked
from tests.support.repos import RUN

GRACE = 0.4

_STUBBORN = """
import os, signal, sys
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def here(name):
    Path(name).with_suffix(".tmp").write_text(str(os.getpid()))
    Path(name).with_suffix(".tmp").rename(name)
def below(depth):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            here(f"pid{depth}")
            if depth:
                below(depth - 1)
            while True:
                signal.pause()
        os._exit(0)
    os.wait()
below(int(sys.argv[1]))
here("self")
while "stays" in sys.argv:
    signal.pause()
"""


@pytest.fixture
def started(tmp_path) -> Iterator[Callable[..., psutil.Popen]]:
    """Starts a process that double-forks into sessions of their own and ignores SIGTERM."""
    made: list[psutil.Popen] = []

    def start(*words: str, code: str = _STUBBORN, run: str = RUN) -> psutil.Popen:
        environ = {"PATH": os.environ["PATH"], "REFLECTOR_RUN": run}
        command = [sys.executable, "-c", code, *words]
        made.append(psutil.Popen(command, cwd=tmp_path, env=environ, start_new_session=True))
        return made[-1]

    yield start
    for process in made:
        for pid in [process.pid, *pids(tmp_path)]:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.wait(10)


def pids(folder: Path) -> list[int]:
    return [int(file.read_text()) for file in folder.glob("pid?")]


def wait_for(path: Path) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + 20
    while not path.exists():
        assert clock.monotonic() < deadline, f"{path} never came"
        clock.sleep(0.005)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("depth", [0, 1])
def test_grandchildren_in_sessions_of_their_own_that_ignore_a_request_are_ended(
    tmp_path, started, depth
):
    adopt_orphans()
    child = started(str(depth), "stays")
    wait_for(tmp_path / "self")
    wait_for(tmp_path / "pid0")
    assert len(pids(tmp_path)) == depth + 1
    assert not any(map(gone, pids(tmp_path)))
    end_all(child, RUN, GRACE)
    assert all(map(gone, pids(tmp_path)))
    assert int(child.wait(10)) == -signal.SIGKILL


def test_grandchildren_are_ended_also_when_the_child_itself_is_long_gone(tmp_path, started):
    adopt_orphans()
    child = started("1")
    wait_for(tmp_path / "self")
    wait_for(tmp_path / "pid0")
    assert int(child.wait(10)) == 0
    end_all(child, RUN, GRACE)
    assert all(map(gone, pids(tmp_path)))


_UNMARKED = """
import os, subprocess, sys, time
from pathlib import Path
below = subprocess.Popen(["sleep", "60"], env={}, executable="/bin/sleep", start_new_session=True)
Path("pid0").write_text(str(below.pid))
Path("self").touch()
time.sleep(60)
"""


def test_a_process_below_the_child_is_ended_though_it_threw_its_mark_away(tmp_path, started):
    child = started(code=_UNMARKED)
    wait_for(tmp_path / "self")
    (below,) = pids(tmp_path)
    assert marked(RUN, [psutil.Process(below)]) == []
    end_all(child, RUN, 20)
    assert gone(below)


def test_a_process_that_ends_when_it_is_asked_is_not_forced(tmp_path, started):
    polite = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "open('self', 'w').close()\n"
        "signal.pause()\n"
    )
    child = started(code=polite)
    wait_for(tmp_path / "self")
    end_all(child, RUN, 20)
    assert int(child.wait(10)) == 7


def test_the_exit_code_of_a_child_that_ended_by_itself_is_kept(started):
    child = started(code="import sys; sys.exit(5)")
    while child.status() != psutil.STATUS_ZOMBIE:
        SystemClock().sleep(0.005)
    end_all(child, RUN, GRACE)
    assert int(child.wait(10)) == 5


def test_processes_of_another_run_are_left_alone(tmp_path, started):
    other = started("0", "stays", run="another")
    wait_for(tmp_path / "self")
    end_strays(RUN)
    assert other.is_running()
    assert not any(map(gone, pids(tmp_path)))
    assert marked(RUN, [other]) == []
    assert marked("another", [other, psutil.Process()]) == [other]
