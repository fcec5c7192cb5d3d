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
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "LANG": "C.UTF-8",
            # The checkout under test, which may be a copy, wins over the installed one.
            "PYTHONPATH": str(ROOT),
            **self.environ,
        }
        command = [sys.executable, "-m", "reflector", *map(str, words), "--home", str(self.home)]
        return subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"cwd": self.home.parent, **options},
        )

    def __call__(self, *words: str | Path, **options: Any) -> Done:
        """Run the command to its end."""
        process = self.start(*words, **options)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return Done(process.returncode, out.decode(), err.decode())

    @property
    def repo(self) -> Path:
        """The memory repository of the only identity in this home."""
        (agent,) = (self.home / "agents").iterdir()
        return agent / "repo"


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
