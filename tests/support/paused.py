"""The real command with a child that stops in the middle until it is told to go on.

`python paused.py command BEHAVIOUR FOLDER -- WORDS…` is the command, `python paused.py child
BEHAVIOUR FOLDER RUN_FOLDER` its child. Two named pipes in FOLDER are the handshake, so that
nothing polls and nothing sleeps.
"""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.cli import Cli  # noqa: E402 - the child has no PYTHONPATH


class Paused(Cli):
    """Runs `reflector` with a child that pauses before it behaves as `children.py` has it."""

    def __init__(self, home: Path, behaviour: str = "learns", **environ: str) -> None:
        super().__init__(home, **environ)
        self.behaviour = behaviour
        self.folder = home.parent / "pipes"
        if not self.folder.exists():
            self.folder.mkdir()
            os.mkfifo(self.folder / "up")
            os.mkfifo(self.folder / "down")

    def command(self, *words: str | Path) -> list[str]:
        wrapped = [sys.executable, str(HERE), "command", self.behaviour, str(self.folder), "--"]
        return [*wrapped, *map(str, words), "--home", str(self.home)]

    def start(self, *words: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        environ = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ")}
        return subprocess.Popen(
            self.command(*words),
            env=environ | self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"cwd": self.home.parent, **options},
        )

    def child(self) -> int:
        """Wait until the child has paused, and return its process id."""
        return int((self.folder / "up").read_text("ascii"))

    def go_on(self) -> None:
        """Let the child do what it came for."""
        (self.folder / "down").write_text("", "ascii")


def command(behaviour: str, folder: str, words: list[str]) -> int:
    """Run the real command line with this child in place of ours."""
    from reflector.surface.cli.main import main

    surface: Any = importlib.import_module("reflector.surface.cli.reflect")
    child = (sys.executable, str(HERE), "child", behaviour, folder)
    surface.reflect = functools.partial(surface.reflect, child=child)
    return main(words)


def child(behaviour: str, folder: Path, run_folder: Path) -> None:
    """Speak the protocol, pause, behave."""
    from tests.support.children import BEHAVIOURS, Child

    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        return
    (folder / "up").write_text(f"{os.getpid()}", "ascii")
    (folder / "down").read_text("ascii")
    BEHAVIOURS[behaviour](Child(run_folder))


if __name__ == "__main__":
    if sys.argv[1] == "command":
        sys.exit(command(sys.argv[2], sys.argv[3], sys.argv[5:]))
    child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
