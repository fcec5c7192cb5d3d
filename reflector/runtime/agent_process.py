"""An agent CLI as a process: found, confined, given its prompt, ended with everything below it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from reflector.agent.engine import Left, Ran
from reflector.memory.tree import tier
from reflector.runtime.processes import adopt_orphans
from reflector.vcs.worktree import Worktree

CONFINEMENT = "confinement.json"
"""In a run's folder: the words that confine its agent CLI."""

_TICK = 0.2
_CHUNK = 65_536
_LONGEST_LINE = 4_000_000
_LONGEST_SAID = 4_000
_ROUNDS = 20
_GRACE = 2.0
_MOST_AFTER_ITS_END = 1_000


class AgentPrograms:
    """Runs programs in one worktree, and looks at what they left."""

    def __init__(self, place: Worktree, run_folder: Path) -> None:
        """Take the words that confine a program from the run's folder, if there are any."""
        self._place = place
        self._confined = _confinement(run_folder)

    def run(self, words: Sequence[str], given: bytes, hear: Callable[[bytes], None]) -> Ran:
        """Run one to its end. Raises OSError, FileNotFoundError when it is not there."""
        program = shutil.which(words[0])
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0])
        adopt_orphans()
        # Who ends us means all of it: what cleared its environment could not be found again.
        signal.signal(signal.SIGTERM, _end)
        tied = [] if self._confined else _tie()
        process = subprocess.Popen(  # noqa: S603 - the person's own program, without a shell
            [*self._confined, *tied, self._real(program), *words[1:]],
            cwd=self._place.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            said = _Talk(process, given, hear).to_its_end()
            # Its output ends a moment before itself, and who else reaps it takes its code away.
            code = process.wait()
        finally:
            end_below()
        return Ran(code, said.decode("utf-8", "replace"))

    def left(self) -> Left:
        """Return what the worktree holds beyond its base, by git alone."""
        with self._place.reads() as reads:
            head, status = reads.head(), reads.status()
        if head.sha != self._place.base or head.branch != self._place.branch:
            return "commits"
        untracked = any(tier(path) or tier(path.rstrip("/") + "/") for path in status.untracked)
        return "edits" if status.staged or status.unstaged or untracked else "nothing"

    def _real(self, program: str) -> str:
        """Return where a program lies: inside the sandbox a link may lead nowhere."""
        real = os.path.realpath(program)
        return real if self._confined and "node_modules" in Path(real).parts else program


def _confinement(run_folder: Path) -> list[str]:
    try:
        words: list[str] = json.loads((run_folder / CONFINEMENT).read_bytes())
    except FileNotFoundError:
        return []
    return words


def _end(number: int, _frame: object) -> None:
    end_below()
    os._exit(128 + number)


def _tie() -> list[str]:
    return [sys.executable, "-I", "-m", "reflector.runtime.tied", str(os.getpid())]


def end_below() -> None:
    """End every process below this one by force, until none is left.

    Whoever started them has ended: what still runs was left behind on purpose or by mistake, and
    could write into the worktree while it is judged.
    """
    for _ in range(_ROUNDS):
        below = [each for each in psutil.Process().children(recursive=True) if _lives(each)]
        if not below:
            return
        for each in below:
            with contextlib.suppress(psutil.Error):
                each.kill()
        psutil.wait_procs(below, timeout=_GRACE)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@dataclass
class _Talk:
    """What goes to a program and comes from it, at the same time, so that no pipe fills up."""

    process: subprocess.Popen[bytes]
    given: bytes
    hear: Callable[[bytes], None]
    line: bytearray = field(default_factory=bytearray)
    skips: bool = False
    said: bytes = b""

    def to_its_end(self) -> bytes:
        """Talk until the program ended or said all it has; return the end of its stderr."""
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise AssertionError
        with selectors.DefaultSelector() as selector:
            os.set_blocking(stdin.fileno(), False)
            selector.register(stdin, selectors.EVENT_WRITE, self._give)
            selector.register(stdout, selectors.EVENT_READ, self._listen)
            selector.register(stderr, selectors.EVENT_READ, self._note)
            self._turns(selector)
        for stream in (stdin, stdout, stderr):
            with contextlib.suppress(OSError):
                stream.close()
        if self.line and not self.skips:
            self.hear(bytes(self.line))
        return self.said

    def _turns(self, selector: selectors.DefaultSelector) -> None:
        more = _MOST_AFTER_ITS_END
        while selector.get_map() and more:
            ended = self.process.poll() is not None
            ready = selector.select(0 if ended else _TICK)
            if ended and not any(key.data != self._give for key, _ in ready):
                return  # something below it may still hold the pipes
            more -= ended
            for key, _ in ready:
                if not key.data(key.fileobj):
                    selector.unregister(key.fileobj)

    def _give(self, stdin: IO[bytes]) -> bool:
        try:
            self.given = self.given[os.write(stdin.fileno(), self.given[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # it does not want to hear the rest
            self.given = b""
        if not self.given:
            with contextlib.suppress(OSError):
                stdin.close()
        return bool(self.given)

    def _listen(self, stdout: IO[bytes]) -> bool:
        chunk = os.read(stdout.fileno(), _CHUNK)
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._take(piece)
            if not self.skips:
                self.hear(bytes(self.line))
            self.line, self.skips = bytearray(), False
        self._take(rest)
        return bool(chunk)

    def _take(self, piece: bytes) -> None:
        """Add to the present line; one without end is given up, not kept."""
        if len(self.line) + len(piece) > _LONGEST_LINE:
            self.line, self.skips = bytearray(), True
        if not self.skips:
            self.line += piece

    def _note(self, stderr: IO[bytes]) -> bool:
        chunk = os.read(stderr.fileno(), _CHUNK)
        self.said = (self.said + chunk)[-_LONGEST_SAID:]
        return bool(chunk)
