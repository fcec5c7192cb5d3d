"""What an event costs: the hook, `event settled`, reservations from several processes, recovery."""

from __future__ import annotations

import json
import os
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
from reflector.core.errors import BusyError
from reflector.core.run import Outcome, Settlement
from reflector.core.schedule import Manual
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.wiring import context
from reflector.store import reservations
from reflector.store.locks import owner
found = context(sys.argv[1])
made = 0
with found.state(busy_seconds=30) as state:
    scheduler, who = Scheduler(found, state), owner(found.ambient.token())
    while made < int(sys.argv[2]):
        scheduler.handle(Manual("bench"))
        run = scheduler.next_run("reflection", who)
        try:
            if run is not None:
                end = Settlement(Outcome.CANCELLED)
                reservations.settle(state, run.id, who.token, end, found.ambient.now())
                made += 1
        except BusyError:
            pass  # another one was faster
"""
_HOOK = """
import sys
sys.path.insert(0, {surface!r})
import hook
hook._SECONDS = 60.0  # who counts instructions is slow: the alarm would end it half way
sys.argv = ["reflector", "hook", "claude-code", "Stop"]
sys.exit(hook.main())
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
            surface = str(Path(__file__).resolve().parents[2] / "reflector" / "surface")
            code = _HOOK.format(surface=surface)
            bare = _instructions(theirs, ["-c", "pass"])
            ours = min(_instructions(theirs, ["-IS", "-c", code]) for _ in range(2))
            rows.append(_row("hook, instructions", ours, bare, f"{ours / 1e6:.0f} M", 0.8))
            event = ["-m", "reflector", "event", "settled", "--home", str(home)]
            ours = min(_instructions(environ, event) for _ in range(2))
            shown = f"{ours / 1e6:.0f} M"
            note = "against python -c pass"
            rows.append(Row("event settled, instructions", shown, "", ours / bare, note=note))
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
    note = f"decided, reserved, owned and ended by {_PROCESSES} processes, starts included"
    return Row("reservations per second", f"{rate:.0f}", "", note=note, met=not any(codes))


def _sweep(environ: Mapping[str, str], home: Path, quick: bool) -> Row:  # noqa: FBT001 - as in bench
    many = 20 if quick else 1000
    (agent,) = (home / "agents").iterdir()
    for number in range(many):
        name = f"20200101-20200101T000000-{number:08x}"
        (_worktree if number % 5 == 0 else _folder)(environ, agent, name)
    with cost() as found:
        _run(environ, [sys.executable, "-m", "reflector", "sweep", "--home", str(home)])
    left = len(list((agent / "worktrees").iterdir()))
    note = f"every fifth a worktree with its branch; {left} left"
    return Row(f"sweep of {many} leftovers", f"{found.wall:.2f} s", "", note=note, met=left == 0)


def _folder(_environ: Mapping[str, str], agent: Path, name: str) -> None:
    (agent / "worktrees" / name).mkdir()
    _aged(agent / "worktrees" / name)


def _worktree(environ: Mapping[str, str], agent: Path, name: str) -> None:
    place = agent / "worktrees" / name
    words = ["worktree", "add", "-q", "-b", f"memory/reflection-{name}", str(place)]
    _run(environ, ["git", "-C", str(agent / "repo"), *words])
    _aged(place)


def _aged(folder: Path) -> None:
    old = time.time() - 100 * 86400
    (folder / "x.md").write_text("left behind\n")
    for place in (folder / "x.md", folder):
        os.utime(place, (old, old))


def _instructions(environ: Mapping[str, str], words: Sequence[str]) -> float:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, sys.executable, *words]
    done = subprocess.run(
        command, env=dict(environ), input=_PAYLOAD, capture_output=True, check=True
    )
    counted = re.search(r"Collected : (\d+)", done.stderr.decode())
    return float(counted[1]) if counted else 0.0


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
