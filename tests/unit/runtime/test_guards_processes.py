"""A run's child begins when the ledger says so, sees nothing of the person, and leaves nobody."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from reflector.core.ambient import SystemClock
from reflector.runtime.launch import Ended, Listening, _Hearing, environment, run_child
from reflector.runtime.processes import end_strays, marked
from tests.support.journals import ended, heard, python
from tests.support.repos import RUN


def _listening() -> Listening:
    return Listening(lambda: None, lambda _line: None, lambda: None, lambda: False)


def _child(folder: Path, code: str) -> Ended:
    environ = environment(folder, folder, "agent", RUN)
    command = [sys.executable, "-c", code]
    return run_child(command, folder, environ, SystemClock(), 20, _listening(), grace=2)


def test_a_child_is_told_to_go_only_when_the_ledger_says_that_it_runs():
    told = io.BytesIO()
    seen: list[bytes] = []
    listening = Listening(
        lambda: seen.append(told.getvalue()), lambda _: None, lambda: None, lambda: False
    )
    hearing = _Hearing(told, listening)
    hearing.take(b"noise\nrea")
    assert (seen, told.getvalue()) == ([], b"")
    hearing.take(b"dy\nready\n")
    assert (seen, told.getvalue()) == ([b""], b"go\n")


def test_no_variable_of_the_person_reaches_a_child(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET_OF_THE_PERSON", "x")
    _child(tmp_path, "import os, json; json.dump(dict(os.environ), open('seen', 'w'))")
    seen = (tmp_path / "seen").read_text()
    assert '"REFLECTOR_CHILD": "1"' in seen
    assert "A_SECRET_OF_THE_PERSON" not in seen
    assert os.environ["HOME"] not in seen


_ESCAPES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdout.close()
        with open("writing", "w") as file:
            file.write(str(os.getpid()))
        os.rename("writing", "escaped")
        time.sleep(60)
    os._exit(0)
os.wait()
while not os.path.exists("escaped"):
    time.sleep(0.01)
"""


def test_a_grandchild_in_a_session_of_its_own_is_ended_with_its_run(tmp_path):
    done = _child(tmp_path, _ESCAPES)
    assert done == Ended("exited", 0)
    escaped = int((tmp_path / "escaped").read_text())
    assert not psutil.pid_exists(escaped) or (
        psutil.Process(escaped).status() == psutil.STATUS_ZOMBIE
    )


def test_what_a_dead_supervisor_left_running_is_found_by_its_mark(tmp_path):
    environ = environment(tmp_path, tmp_path, "agent", RUN)
    stray = subprocess.Popen(["sleep", "60"], env=environ, start_new_session=True)
    other = subprocess.Popen(["sleep", "60"], env=environ | {"REFLECTOR_RUN": "another"})
    assert [each.pid for each in marked(RUN, psutil.process_iter())] == [stray.pid]
    end_strays(RUN)
    assert not psutil.pid_exists(stray.pid)
    stray.wait(timeout=20)
    assert other.poll() is None
    other.kill()
    other.wait()


_BORN = """
import subprocess, sys
inner = '''
import signal
from reflector.runtime.processes import die_with_parent
die_with_parent()
print("here", flush=True)
signal.pause()
'''
child = subprocess.Popen([sys.executable, "-c", inner], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
input()
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a child of its parent's death"
)
def test_a_child_dies_with_its_supervisor():
    supervisor = python(_BORN)
    child = psutil.Process(int(heard(supervisor)))
    supervisor.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs([child], timeout=20)
    for each in alive:
        each.kill()
    ended(supervisor)
    assert alive == []
