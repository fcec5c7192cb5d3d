"""What hostile code in a run's place would try, one act at a time, and how one sees it was done."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reflector.runtime import birth, sandbox
from reflector.runtime.launch import environment
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.sandbox import Work
from reflector.runtime.sandbox_probe import probed
from reflector.runtime.wiring import Context, context
from tests.support.cli import git
from tests.support.transcripts import conversation
from tests.support.watching import QuietWatch

SECRET = "planted-outside-of-the-run"
MAIN = "c0ffee" * 6 + "c0ff"

_PREFACE = """
import ctypes, json, os, signal, socket, sys
from contextlib import suppress
from pathlib import Path
t = json.loads(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
def undo_the_sandbox():
    kernel = ctypes.CDLL(None, use_errno=True)
    kernel.unshare(0x10000000 | 0x20000)  # a user namespace of its own, with mounts of its own
    for place in (t["git"], "/proc", "/"):
        kernel.mount(b"none", place.encode(), None, 0x20 | 0x1000, None)  # remount, writable
"""
_ACTS = {
    "reads_a_secret_of_the_person": "print('progress', Path(t['secret']).read_text())",
    "reads_the_journal": "print('progress', Path(t['state']).read_bytes()[:15].decode())",
    "writes_outside": "Path(t['outside']).write_text('x')",
    "writes_in_another_worktree": "Path(t['other'], 'system', 'human.md').write_text('x')",
    "deletes_an_object": "undo_the_sandbox(); os.unlink(t['object'])",
    "moves_main": f"undo_the_sandbox(); Path(t['git'], 'refs/heads/main').write_text('{MAIN}\\n')",
    "plants_a_hook": "Path(t['git'], 'hooks').mkdir(exist_ok=True); "
    "Path(t['git'], 'hooks', 'post-merge').write_text('x')",
    "changes_the_kernel": "place = Path('/proc/sys/kernel/core_pattern'); undo_the_sandbox(); "
    "place.write_text(place.read_text()); print('progress rewritten')",
    "signals_the_supervisor": "os.kill(t['pid'], signal.SIGUSR1)",
    "reaches_a_port_of_the_host": "socket.create_connection(('127.0.0.1', t['port']), 5)",
}


def _code(act: str) -> str:
    return f"{_PREFACE}with suppress(OSError):\n    {_ACTS[act]}\n"


@dataclass
class Host:
    """A machine with a memory on it, and what a run must not reach."""

    folder: Path
    memory: Context
    listener: socket.socket
    signals: list[int] = field(default_factory=list)

    @property
    def repo(self) -> Path:
        return self.memory.agent.repo

    @property
    def other(self) -> Path:
        return self.memory.agent.worktrees / "another-run"

    @property
    def object(self) -> Path:
        head = git(self.repo, "rev-parse", "HEAD").strip()
        return self.repo / ".git" / "objects" / head[:2] / head[2:]

    def targets(self) -> str:
        return json.dumps(
            {
                "secret": str(self.folder / "person" / "secret"),
                "state": str(self.memory.agent.state),
                "outside": str(self.folder / "outside"),
                "other": str(self.other),
                "object": str(self.object),
                "git": str(self.repo / ".git"),
                "pid": os.getpid(),
                "port": self.listener.getsockname()[1],
            }
        )

    def work(self) -> Work:
        """Return the places of a run that nobody supervises."""
        agent = self.memory.agent
        place = agent.worktrees / "a-run"
        git(self.repo, "worktree", "add", "-q", "-b", "memory/a-run", str(place))
        work = Work(self.memory.home.path, agent.run("a-run"), place, self.repo)
        (work.run_folder / "out").mkdir(parents=True)
        sandbox.make_places(work)
        return work

    def done(self, act: str, said: str) -> bool:
        """Tell whether an act had its effect on this host."""
        seen: dict[str, Callable[[], bool]] = {
            "reads_a_secret_of_the_person": lambda: SECRET in said,
            "reads_the_journal": lambda: "SQLite format 3" in said,
            "writes_outside": (self.folder / "outside").exists,
            "writes_in_another_worktree": lambda: (
                (self.other / "system" / "human.md").read_text("utf-8") == "x"
            ),
            "deletes_an_object": lambda: not self.object.exists(),
            "moves_main": lambda: (
                MAIN in (self.repo / ".git" / "refs" / "heads" / "main").read_text("ascii")
            ),
            "plants_a_hook": (self.repo / ".git" / "hooks" / "post-merge").exists,
            "changes_the_kernel": lambda: "rewritten" in said,
            "signals_the_supervisor": lambda: bool(self.signals),
            "reaches_a_port_of_the_host": self._reached,
        }
        return seen[act]()

    def _reached(self) -> bool:
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@functools.cache
def _template() -> Path:
    """Make a home once, with what the trial of the sandbox said; every host has a copy."""
    folder = Path(tempfile.mkdtemp(prefix="reflector-host-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    memory = context(str(folder / "home"))
    birth.init(memory)
    probed(memory)
    return folder / "home"


@contextmanager
def host(folder: Path) -> Iterator[Host]:
    """Make a host; it listens on a port of loopback and takes note of SIGUSR1."""
    shutil.copytree(_template(), folder / "home", symlinks=True)
    memory = context(str(folder / "home"))
    (folder / "person").mkdir()
    (folder / "person" / "secret").write_text(SECRET, "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        made = Host(folder, memory, listener)
        git(made.repo, "worktree", "add", "-q", "--detach", str(made.other))
        before = signal.signal(signal.SIGUSR1, lambda number, _frame: made.signals.append(number))
        try:
            yield made
        finally:
            signal.signal(signal.SIGUSR1, before)


def by_supervisor(on: Host, act: str, *, confined: bool) -> str:
    """Act as the child of a real run by an engine that asks a model."""
    wish = "required" if confined else "off"
    settings = f'sandbox = "{wish}"\n[engine]\nname = "anthropic"\n'
    (on.memory.home.path / "config.toml").write_text(settings, "utf-8")
    talk = conversation(on.folder / "talk.jsonl", "Keep it short, please.", "I will.")
    child = (sys.executable, "-I", "-c", _code(act), on.targets())
    watch = QuietWatch()
    done = reflect(context(str(on.memory.home.path)), Options(files=[talk]), watch, child)
    (run,) = done.runs
    assert run.sandboxed is confined, run.settlement
    assert run.started_at, run.settlement
    return "\n".join(watch.lines)


def as_command(on: Host, act: str, *, confined: bool) -> str:
    """Act as an agent CLI that has no network."""
    work = on.work()
    profile = sandbox.command_profile(sandbox.host_mounts(), work, [], network=False)
    return _directly(on, act, profile if confined else None)


def as_engine(on: Host, act: str, *, confined: bool) -> str:
    """Act as a child of ours whose engine needs no network."""
    profile = sandbox.engine_profile(sandbox.host_mounts(), on.work(), {}, network=False)
    return _directly(on, act, profile if confined else None)


def _directly(on: Host, act: str, profile: sandbox.Profile | None) -> str:
    confined = words(on.memory, profile) if profile else []
    return run([*confined, sys.executable, "-I", "-c", _code(act), on.targets()], on.folder)


def words(memory: Context, profile: sandbox.Profile) -> list[str]:
    """Return the words before a confined command on this machine."""
    found = probed(memory)
    return sandbox.arguments(found.program, profile, found.options)


def run(command: Sequence[str], folder: Path, **user: Any) -> str:
    """Start a command as a run's child is started and return what it says."""
    environ = environment(folder, folder, "me", "20261130T120000-0123abcd")
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, env=environ, input=b"go\n", capture_output=True, check=False, timeout=60, **user
    )
    assert done.stdout.startswith(b"ready\n"), done.stderr
    return done.stdout.decode()


def sandbox_or_skip(memory: Context) -> None:
    """Skip where there is no sandbox, saying why; where CI runs, that is a failure."""
    found = probed(memory)
    if found.works:
        return
    if os.environ.get("CI"):
        pytest.fail(f"CI needs a sandbox: {found.detail}")
    pytest.skip(found.detail)
