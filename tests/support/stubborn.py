"""A run's child that leaves a process behind which nobody gets rid of by asking.

`python stubborn.py finishes|hangs FOLDER RUN_FOLDER`: it learns; its grandchild forks twice into a
session of its own and ignores every request to end; then the child ends, or ignores them as well.
The process id of the grandchild is written to FOLDER/grandchild.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.children import BEHAVIOURS, Child

DEAF = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def leave(folder: Path) -> None:
    """Fork twice, and stay for ever."""
    heard, say = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in DEAF:
                signal.signal(number, signal.SIG_IGN)
            (folder / "grandchild").write_text(f"{os.getpid()}", "ascii")
            os.close(say)
            while True:
                signal.pause()
        os._exit(0)
    os.close(say)
    os.read(heard, 1)  # until the grandchild has written


def main(how: str, folder: Path, run_folder: Path) -> None:
    """Speak the protocol and misbehave."""
    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        return
    leave(folder)
    if how == "hangs":
        for number in DEAF:
            signal.signal(number, signal.SIG_IGN)
        print("progress hanging", flush=True)
        while True:
            signal.pause()
    BEHAVIOURS["learns"](Child(run_folder))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
