"""The start of the command against that of Python itself, and what `status` may not import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Cost, Row, both, cost, interleaved
from benchmarks.memories import talk
from benchmarks.place import environment

_GOALS = {"reflector --version": 3.0, "reflector status": 15.0}
_FORBIDDEN = ("structlog", "pydantic", "anthropic", "pygit2", "git")


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Compare the starts, on a memory with a conversation and one run."""
    environ = environment(folder / "person")
    home = folder / "start-home"
    _run(environ, ["-m", "reflector", "init", "--home", str(home)])
    file = talk(folder / "start.jsonl", "start", ["We use tabs in SQL files, not spaces."] * 3)
    _run(environ, ["-m", "reflector", "reflect", str(file), "--home", str(home)])
    status = ["-m", "reflector", "status", "--home", str(home)]
    starts = {
        "python -c pass": ["-c", "pass"],
        "reflector --version": ["-m", "reflector", "--version"],
        "reflector status": status,
    }
    sides = {name: _side(environ, words) for name, words in starts.items()}
    found = interleaved(3 if quick else 25, sides)
    bare = found["python -c pass"]
    rows = [
        Row(name, both(found[name]), both(bare), found[name].least / bare.least, goal,
            note="against python -c pass")
        for name, goal in _GOALS.items()
    ]  # fmt: skip
    return [*rows, _imports(environ, status)]


def _side(environ: Mapping[str, str], words: Sequence[str]) -> Callable[[], Cost]:
    def once() -> Cost:
        with cost() as found:
            _run(environ, words)
        return found

    return once


def _imports(environ: Mapping[str, str], words: Sequence[str]) -> Row:
    told = _run(environ, ["-X", "importtime", *words]).stderr.decode()
    names = {line.rsplit("|", 1)[-1].strip() for line in told.splitlines() if "|" in line}
    found = sorted({name.partition(".")[0] for name in names} & set(_FORBIDDEN))
    return Row(
        "modules that `reflector status` imports",
        str(len(names)),
        "",
        shown_goal=f"none of {', '.join(_FORBIDDEN)}",
        note=f"found: {', '.join(found)}" if found else "",
        met=not found,
    )


def _run(environ: Mapping[str, str], words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *words]
    return subprocess.run(command, env=dict(environ), capture_output=True, check=True)
