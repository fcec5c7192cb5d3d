"""Programs as an agent CLI is one: talked to, confined, tied to us, ended with all they started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
OURS = """
import json, sys
from pathlib import Path
from reflector.runtime.agent_process import AgentPrograms
from reflector.vcs.worktree import Worktree
place = Path(sys.argv[1])
programs = AgentPrograms(Worktree(place, place, "branch", "base"), place)
given, lines = sys.stdin.buffer.read(), []
try:
    ran = programs.run(sys.argv[2:], given, lines.append)
except OSError as error:
    print(json.dumps({"error": type(error).__name__}))
else:
    sizes = [len(line) for line in lines]
    print(json.dumps({"code": ran.code, "said": ran.said, "sizes": sizes,
                      "first": lines[0].decode() if lines else ""}))
"""
FORKS = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        code = "import time; print('left', flush=True); time.sleep(600)"
        os.execve(sys.executable, ["python", "-c", code, sys.argv[1]], {})
    os._exit(0)
os.wait()
"""


def start(folder: Path, *words: str, stdin=subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a process that runs a program as our child does."""
    return subprocess.Popen(
        [sys.executable, "-c", OURS, str(folder), *words],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdin=stdin,
        stdout=subprocess.PIPE,
    )


def run(folder: Path, *words: str, given: bytes = b"") -> dict[str, Any]:
    process = start(folder, *words, stdin=subprocess.PIPE)
    out, _ = process.communicate(given, timeout=30)
    found: dict[str, Any] = json.loads(out)
    return found


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


def running(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if mark in words and OURS not in words:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark():
    """Return a word by which a process is known again; whoever still bears it later is ended."""
    made = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    yield made
    for process in running(made):
        process.kill()


def until(condition) -> bool:
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_long_prompt_and_a_long_answer_fit_at_the_same_time(tmp_path):
    given = b"x" * 99 + b"\n"
    ended = run(tmp_path, "cat", given=given * 20_000)
    assert (ended["code"], len(ended["sizes"]), set(ended["sizes"])) == (0, 20_000, {99})


def test_a_program_that_does_not_listen_is_no_trouble(tmp_path):
    assert run(tmp_path, "true", given=b"x" * 1_000_000)["code"] == 0


def test_a_last_line_needs_no_end(tmp_path):
    assert run(tmp_path, "printf", "a\\nbc")["sizes"] == [1, 2]


def test_a_line_without_end_is_given_up_and_the_next_is_heard(tmp_path):
    code = "import sys; sys.stdout.write('x' * 5_000_000 + '\\nshort\\n')"
    assert run(tmp_path, *python(code))["sizes"] == [5]


def test_code_and_last_words_are_told(tmp_path):
    # It closes its output well before it ends.
    code = "import os, sys, time; sys.stderr.write('x' * 9000 + 'the end'); sys.stderr.flush()"
    code += "; os.close(1); os.close(2); time.sleep(0.2); os._exit(7)"
    ended = run(tmp_path, *python(code))
    assert (ended["code"], len(ended["said"])) == (7, 4000)
    assert ended["said"].endswith("the end")
    assert run(tmp_path, "sh", "-c", "kill -9 $$")["code"] == -9


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program"])
def test_a_program_that_is_not_there_is_said_to_be_missing(tmp_path, name):
    assert run(tmp_path, name) == {"error": "FileNotFoundError"}


def test_a_program_that_cannot_be_started_says_why(tmp_path):
    program = tmp_path / "no-program"
    program.write_bytes(b"\x7fELF nothing")
    program.chmod(0o755)
    ended = run(tmp_path, str(program))
    assert ended["code"] == 126
    assert ended["said"].splitlines() == [f"{program} cannot be started: Exec format error"]


def test_the_words_that_confine_stand_before_the_program(tmp_path):
    (tmp_path / "confinement.json").write_text(json.dumps(["env", "WALL=here"]))
    assert run(tmp_path, "printenv", "WALL")["first"] == "here"


def test_it_works_in_the_worktree(tmp_path):
    assert run(tmp_path, "pwd")["first"] == str(tmp_path)


def test_what_a_program_leaves_behind_is_ended(tmp_path, mark):
    assert run(tmp_path, *python(FORKS, mark))["code"] == 0
    assert until(lambda: not running(mark))


def test_a_program_ends_with_us(tmp_path, mark):
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    process = start(tmp_path, *python(code, mark))
    assert until(lambda: running(mark))
    process.kill()
    process.communicate()
    assert until(lambda: not running(mark))


def test_asked_to_end_we_take_everything_with_us(tmp_path, mark):
    process = start(tmp_path, *python(FORKS + "\ntime.sleep(600)", mark))
    assert until(lambda: len(running(mark)) == 2)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert until(lambda: not running(mark))
