"""What an event costs: the hook, `event settled`, reservations from several processes, recovery."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Cost, Row, both, cost, interleaved
from benchmarks.memories import talk
from benchmarks.place import environment

_PAYLOAD = json.dumps(
    {"session_id": "s", "transcript_path": "/none.jsonl", "cwd": "/nowhere", "prompt": "x" * 2000}
).encode()
_PROCESSES = 4
_RESERVE = """
import sys
from reflector.core.schedule import Settled
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.wiring import context
found = context(sys.argv[1])
with found.state(busy_seconds=30) as state:
    scheduler = Scheduler(found, state)
    for _ in range(int(sys.argv[2])):
        scheduler.handle(Settled(success=True))
"""


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Measure the front doors of one memory."""
    environ = environment(folder / "person")
    home = folder / "event-home"
    _run(environ, [sys.executable, "-m", "reflector", "init", "--home", str(home)])
    file = talk(folder / "event.jsonl", "event", ["We use tabs in SQL files, not spaces."] * 3)
    _run(environ, [sys.executable, "-m", "reflector", "ingest", str(file), "--home", str(home)])
    hook = [str(home / "bin" / "reflector"), "hook", "claude-code", "Stop"]
    settled = [sys.executable, "-m", "reflector", "event", "settled", "--home", str(home)]
    theirs = {**environ, "REFLECTOR_HOME": str(home)}
    with _held(home / "locks" / "ingest.lock"):  # the drainer it would start is no part of it
        sides: dict[str, Callable[[], Cost]] = {
            "bare": _side(environ, [sys.executable, "-c", "pass"]),
            "hook": _side(theirs, hook),
            "settled": _side(environ, settled),
        }
        found = interleaved(3 if quick else 25, sides)
        rows = [
            _row("hook", found["hook"].least, found["bare"].least, both(found["hook"]), 1.2),
            _row("event settled", found["settled"].least, found["bare"].least, "", 8.0),
        ]
        if shutil.which("valgrind") and not quick:
            ours, bare = (
                _instructions(theirs, words) for words in (hook, [sys.executable, "-c", "pass"])
            )
            rows.append(_row("hook, instructions", ours, bare, f"{ours / 1e6:.0f} M", 0.8))
    return [*rows, _reservations(environ, home, 5 if quick else 200), _sweep(environ, home, quick)]


def _row(name: str, ours: float, against: float, shown: str, goal: float) -> Row:
    note = "against python -c pass"
    return Row(name, shown or f"{ours * 1000:.0f} ms", "", ours / against, goal, note=note)


def _reservations(environ: Mapping[str, str], home: Path, each: int) -> Row:
    begin = time.perf_counter()
    words = [sys.executable, "-c", _RESERVE, str(home), str(each)]
    started = [subprocess.Popen(words, env=dict(environ)) for _ in range(_PROCESSES)]
    codes = [process.wait() for process in started]
    rate = _PROCESSES * each / (time.perf_counter() - begin)
    note = f"from {_PROCESSES} processes, starts included"
    return Row("decisions per second", f"{rate:.0f}", "", note=note, met=not any(codes))


def _sweep(environ: Mapping[str, str], home: Path, quick: bool) -> Row:  # noqa: FBT001 - as in bench
    many = 20 if quick else 1000
    (agent,) = (home / "agents").iterdir()
    old = time.time() - 100 * 86400
    for number in range(many):
        folder = agent / "worktrees" / f"20200101-20200101T000000-{number:08x}"
        folder.mkdir()
        (folder / "x.md").write_text("left behind\n")
        for place in (folder / "x.md", folder):
            _aged(place, old)
    with cost() as found:
        _run(environ, [sys.executable, "-m", "reflector", "sweep", "--home", str(home)])
    left = len(list((agent / "worktrees").iterdir()))
    return Row(f"sweep of {many} leftovers", f"{found.wall:.2f} s", "", note=f"{left} left")


def _aged(place: Path, when: float) -> None:
    import os  # noqa: PLC0415

    os.utime(place, (when, when))


def _instructions(environ: Mapping[str, str], words: Sequence[str]) -> float:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, sys.executable, *_python(words)]
    done = subprocess.run(
        command, env=dict(environ), input=_PAYLOAD, capture_output=True, check=True
    )
    counted = re.search(r"Collected : (\d+)", done.stderr.decode())
    return float(counted[1]) if counted else 0.0


def _python(words: Sequence[str]) -> list[str]:
    """Return the words after the interpreter: callgrind cannot follow a script's first line."""
    return ["-IS", *words] if words[0] != sys.executable else list(words[1:])


def _held(path: Path):  # type: ignore[no-untyped-def]  # noqa: ANN202 - an open file, locked
    import fcntl  # noqa: PLC0415

    stream = path.open("w")
    fcntl.flock(stream, fcntl.LOCK_EX)
    return stream


def _side(environ: Mapping[str, str], words: Sequence[str]) -> Callable[[], Cost]:
    def once() -> Cost:
        with cost() as found:
            _run(environ, words)
        return found

    return once


def _run(environ: Mapping[str, str], words: Sequence[str]) -> None:
    subprocess.run(words, env=dict(environ), input=_PAYLOAD, capture_output=True, check=True)
