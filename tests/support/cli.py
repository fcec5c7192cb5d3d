"""The real command in a real process, in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import forked
from tests.support.weak import powerless

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "claude-code-session.jsonl"
GENERIC = ROOT / "examples" / "generic-session.jsonl"


@dataclass(frozen=True)
class Done:
    """What a command left: exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout."""
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed


class Cli:
    """Runs `reflector` against one home."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self.environ = environ

    def start(self, *words: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        """Start the command and return its process."""
        return subprocess.Popen(
            [sys.executable, "-m", "reflector", *self._words(words)],
            env=self._environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"cwd": self.home.parent, **options},
        )

    def __call__(self, *words: str | Path, **options: Any) -> Done:
        """Run the command to its end: in a real process where its start may matter."""
        if _forks(options) and not any(map(_of_the_start, self.environ)):
            folder = Path(options.get("cwd") or self.home.parent)
            return self._forked(words, folder, options.get("preexec_fn"))
        process = self.start(*words, **options)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return Done(process.returncode, out.decode(), err.decode())

    def _forked(
        self, words: tuple[str | Path, ...], folder: Path, before: forked.Before | None
    ) -> Done:
        code, out, err = forked.run(self._words(words), self._environ(), folder, 120, before)
        return Done(code, out.decode(), err.decode())

    def _words(self, words: tuple[str | Path, ...]) -> list[str]:
        return [*map(str, words), "--home", str(self.home)]

    def _environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            # The checkout under test, which may be a copy, wins over the installed one.
            "PYTHONPATH": str(ROOT),
            **self.environ,
        }

    @property
    def repo(self) -> Path:
        """The memory repository of the only identity in this home."""
        (agent,) = (self.home / "agents").iterdir()
        return agent / "repo"


def _forks(options: dict[str, Any]) -> bool:
    """Whether a fork does the same: it can be told of a folder, and of one function of ours."""
    return not options.keys() - {"cwd", "preexec_fn"} and options.get("preexec_fn") in (
        None,
        powerless,
    )


def _of_the_start(variable: str) -> bool:
    """Whether the interpreter or an import looks at a variable: then only a real start will do."""
    return variable != "HOME" and not variable.startswith(("REFLECTOR_", "ANTHROPIC_"))


def git(repo: Path, *words: str) -> str:
    """Ask the git command line, with nobody's configuration."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A Person",
        "GIT_AUTHOR_EMAIL": "person@example.com",
        "GIT_COMMITTER_NAME": "A Person",
        "GIT_COMMITTER_EMAIL": "person@example.com",
    }
    done = subprocess.run(
        ["git", "-C", str(repo), *words], env=environ, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode("utf-8", "replace")
