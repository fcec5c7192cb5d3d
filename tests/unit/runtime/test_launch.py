"""A child is heard whatever it says, and ends whatever it does."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from reflector.core.ambient import SystemClock
from reflector.core.errors import RunFailedError
from reflector.runtime.launch import CHILD, Ended, Listening, environment, run_child
from tests.support.clocks import FakeClock
from tests.support.repos import RUN

_PREFACE = """
import os, signal, sys, time
from pathlib import Path
def say(text):
    os.write(1, text.encode())
def go():
    return sys.stdin.readline() == "go\\n"
"""


class Heard:
    """What a supervisor learns of its child; stops it once `stop_when` says so."""

    def __init__(self, stop_when=lambda _heard: False):
        self.ready = self.ticks = 0
        self.progress: list[str] = []
        self._stop_when = stop_when

    def listening(self) -> Listening:
        return Listening(self._on_ready, self.progress.append, self._on_tick, self._stop)

    def _on_ready(self) -> None:
        self.ready += 1

    def _on_tick(self) -> None:
        self.ticks += 1

    def _stop(self) -> bool:
        return bool(self._stop_when(self))


def run(
    folder: Path, code: str, heard: Heard, *, seconds: float = 20, grace: float = 0.3, clock=None
) -> Ended:
    return run_child(
        [sys.executable, "-c", _PREFACE + code],
        folder,
        environment(folder, folder / "tree", "me", RUN),
        clock or SystemClock(),
        seconds,
        heard.listening(),
        grace=grace,
    )


def test_a_child_is_told_to_go_once_it_is_ready_and_its_progress_is_passed_on(tmp_path):
    heard = Heard()
    code = (
        "say('ready\\n'); ok = go(); say('progress one\\nprogress two words\\n'); sys.exit(3 * ok)"
    )
    assert run(tmp_path, code, heard) == Ended("exited", 3)
    assert (heard.ready, heard.progress) == (1, ["one", "two words"])
    assert heard.ticks > 0


def test_a_child_sees_the_variables_of_its_run_and_nothing_of_the_person(tmp_path, monkeypatch):
    canary = "a-secret-of-the-person"
    for name in ("ANTHROPIC_API_KEY", "GIT_DIR", "PYTHONPATH", "REFLECTOR_HOME", "LD_PRELOAD_X"):
        monkeypatch.setenv(name, canary)
    code = "import json; Path('seen').write_bytes(Path('/proc/self/environ').read_bytes())"
    assert run(tmp_path, code, Heard()).code == 0
    raw = (tmp_path / "seen").read_bytes()
    assert canary.encode() not in raw
    seen = dict(pair.split("=", 1) for pair in raw.decode().rstrip("\0").split("\0"))
    assert seen == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "MEMORY_DIR": str(tmp_path / "tree"),
        "TRANSCRIPT_PATH": str(tmp_path / "payload.json"),
        "AGENT_ID": "me",
        "REFLECTOR_CHILD": "1",
        "REFLECTOR_RUN": RUN,
    }


def test_garbage_half_lines_and_a_word_said_twice_do_no_harm(tmp_path):
    heard = Heard()
    code = (
        "os.write(1, bytes(range(256)) + b'\\n\\nreadyish\\n ready\\nprogress'); time.sleep(0.05)\n"
        "say(' split in two\\nrea'); time.sleep(0.05); say('dy\\nready\\nready now\\nno line end')"
    )
    assert run(tmp_path, code, heard) == Ended("exited", 0)
    assert (heard.ready, heard.progress) == (1, ["split in two"])


def test_a_megabyte_without_a_line_end_is_passed_over_and_what_follows_is_heard(tmp_path):
    heard = Heard()
    code = "sys.stdout.write('x' * 1_000_000 + '\\nready\\n'); sys.stdout.flush(); go()"
    assert run(tmp_path, code, heard) == Ended("exited", 0)
    assert (heard.ready, heard.progress) == (1, [])


@pytest.mark.parametrize(("code", "ends"), [("sys.exit(9)", 9), ("os.kill(os.getpid(), 9)", -9)])
def test_a_child_that_dies_at_once_is_told_by_its_exit_code(tmp_path, code, ends):
    heard = Heard()
    assert run(tmp_path, code, heard) == Ended("exited", ends)
    assert heard.ready == 0


def test_a_child_that_ends_its_output_first_keeps_its_exit_code(tmp_path):
    assert run(tmp_path, "os.close(1); time.sleep(0.2); os._exit(6)", Heard(), grace=10) == Ended(
        "exited", 6
    )


def test_a_child_that_does_not_listen_to_the_word_go_does_no_harm(tmp_path):
    heard = Heard()
    code = "os.close(0); say('ready\\nprogress alone\\n')"
    assert run(tmp_path, code, heard) == Ended("exited", 0)
    assert heard.progress == ["alone"]


def test_a_child_that_never_says_ready_ends_at_its_deadline(tmp_path):
    heard = Heard()
    assert run(tmp_path, "time.sleep(60)", heard, seconds=0.3) == Ended("deadline", -15)
    assert heard.ready == 0


def test_a_child_that_ignores_a_request_is_forced_to_end_at_its_deadline(tmp_path):
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "say('ready\\n')\n"
        "while True:\n    say('progress still here\\n'); time.sleep(0.01)"
    )
    heard = Heard()

    class LateOnceHeard(SystemClock):
        def monotonic(self) -> float:
            return super().monotonic() + (1000 if heard.progress else 0)

    assert run(tmp_path, code, heard, clock=LateOnceHeard()) == Ended("deadline", -9)


def test_a_wish_to_stop_is_heard_in_the_middle_of_the_work(tmp_path):
    heard = Heard(stop_when=lambda heard: heard.progress)
    code = "say('ready\\n'); go(); say('progress begun\\n'); time.sleep(60)"
    assert run(tmp_path, code, heard) == Ended("stopped", -15)


def test_a_deadline_that_has_passed_already_starts_no_work(tmp_path):
    heard, clock = Heard(), FakeClock()
    assert run(tmp_path, "time.sleep(60)", heard, seconds=-1, clock=clock).how == "deadline"
    assert heard.ticks == 0


_LEAVES_ONE_BEHIND = """
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    Path("pid.tmp").write_text(str(os.getpid()))
    Path("pid.tmp").rename("pid")
    time.sleep(60)
os.wait()
while not Path("pid").exists():
    time.sleep(0.005)
os._exit(4)
"""


def test_what_a_child_leaves_behind_neither_keeps_us_waiting_nor_stays(tmp_path):
    assert run(tmp_path, _LEAVES_ONE_BEHIND, Heard()) == Ended("exited", 4)
    pid = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_failure_of_the_supervisor_ends_the_child_too(tmp_path):
    heard = Heard(stop_when=lambda heard: heard.ready and 1 / 0)
    code = "Path('pid').write_text(str(os.getpid())); say('ready\\n'); time.sleep(60)"
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, code, heard)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_a_child_that_cannot_be_started_is_an_error_in_our_words(tmp_path):
    environ = environment(tmp_path, tmp_path, "me", RUN)
    for command, folder in (("/no/such/program", tmp_path), (sys.executable, tmp_path / "none")):
        with pytest.raises(RunFailedError, match="could not be started") as caught:
            run_child([command], folder, environ, FakeClock(), 1, Heard().listening())
        assert isinstance(caught.value.__cause__, OSError)


def test_what_a_child_says_to_nobody_is_kept_in_its_log(tmp_path):
    run(tmp_path, "print('trouble', file=sys.stderr)", Heard())
    assert (tmp_path / "child.log").read_text() == "trouble\n"


def test_our_own_child_is_isolated_from_variables_and_folders_that_could_add_code():
    assert (sys.executable, "-I", "-m", "reflector.runtime.child") == CHILD
