"""What Claude Code waits for: each of its hooks against an empty Python, and what drains them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.events import _held
from benchmarks.measure import Cost, Row, both, cost, interleaved, ms
from benchmarks.memories import prose, session_rows
from benchmarks.place import ROOT, environment
from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.harness.meanings import EVENTS
from reflector.runtime.wiring import context
from reflector.store.journal import Appender

HARNESS = "claude-code"
_SESSION = "5e55105e-0000-4000-8000-000000000001"
_INJECTS = "SessionStart"
_PAYLOADS: Mapping[str, Mapping[str, str]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "x" * 2000},
    "SessionEnd": {"reason": "clear"},
    "PreCompact": {"trigger": "auto"},
}
_CODE = """
import sys
sys.path.insert(0, {surface!r})
import hook
hook._SECONDS = hook._SECONDS_INJECTING = 60.0  # who counts instructions is slow
sys.argv = ["reflector", "hook", "claude-code", {event!r}]
sys.exit(hook.main())
"""


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Measure every hook on a home that is in use, then the drainer on what is new."""
    environ = environment(folder / "person")
    home = folder / "hook-home"
    theirs = {**environ, "REFLECTOR_HOME": str(home)}
    _run(environ, [sys.executable, "-m", "reflector", "init", "--home", str(home)])
    settings = "[reflection]\nenabled = false\n"  # no run starts beside what is measured
    (home / "config.toml").write_text(settings, "utf-8")
    _fill(home, 500 if quick else 100_000)
    old, new = (50_000, 5_000) if quick else (4_700_000, 300_000)
    talk = _Talk(folder / "talk.jsonl", old)
    drain = [sys.executable, "-m", "reflector", "event", "--drain", "--home", str(home)]
    hook = [str(home / "bin" / "reflector"), "hook", HARNESS]
    with _held(home / "locks" / "ingest.lock"):  # it starts no drainer
        _run(theirs, [*hook, "Stop"], _payload(talk.path, "Stop", {}))
    _run(environ, drain)  # which also makes the cached block
    talk.grow(new)
    with _held(home / "locks" / "ingest.lock"):
        rows = _waits(theirs, hook, talk.path, 1 if quick else 25)
        if shutil.which("valgrind") and not quick:
            rows += _instructions(theirs, talk.path)
    return [*rows, _drained(theirs, (hook, drain), talk, new, 1 if quick else 5)]


class _Talk:
    """A session of Claude Code that grows."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._lines: Iterator[str] = session_rows(1 << 40)
        self.grow(size)

    def grow(self, size: int) -> None:
        """Add whole rows of at least so many bytes together."""
        written = 0
        with self.path.open("a", encoding="utf-8") as stream:
            while written < size:
                written += stream.write(next(self._lines))


def _fill(home: Path, entries: int) -> None:
    """Journal other conversations, of five hundred entries each, that wait for no run."""
    with context(str(home)).state(durability="NORMAL") as state:
        numbers = iter(range(entries))
        while part := list(islice(numbers, 5000)):
            with state.transaction() as connection:
                appender = Appender(connection, "2026-11-30T10:00:00.000Z")
                for number in part:
                    key = ConversationKey("bench", f"session-{number // 500}")
                    kind = Kind.ASSISTANT if number % 2 else Kind.USER
                    entry = Entry(f"bench:{number}:0", f"m{number}", kind, prose(number, 40))
                    appender.append(appender.conversation(key, None), entry)


def _payload(transcript: Path, event: str, more: Mapping[str, str]) -> bytes:
    about = {
        "session_id": _SESSION,
        "transcript_path": str(transcript),
        "cwd": "/home/dev/shop",
        "permission_mode": "default",
        "hook_event_name": event,
    }
    return json.dumps({**about, **_PAYLOADS.get(event, {}), **more}).encode()


def _waits(environ: Mapping[str, str], hook: Sequence[str], talk: Path, rounds: int) -> list[Row]:
    cases = {event: _payload(talk, event, {}) for event in EVENTS[HARNESS]}
    sides: dict[str, Callable[[], Cost]] = {"": _side(environ, [sys.executable, "-c", "pass"])}
    for event, given in cases.items():
        sides[event] = _side(environ, [*hook, event], given)
    resumed = _payload(talk, _INJECTS, {"source": "resume"})
    sides[f"{_INJECTS}, resumed"] = _side(environ, [*hook, _INJECTS], resumed)
    shown = len(_run(environ, [*hook, _INJECTS], cases[_INJECTS]))
    found = interleaved(rounds, sides)
    bare = found.pop("")
    rows = []
    for name, series in found.items():
        injects = name.startswith(_INJECTS)
        note = (
            f"against python -c pass; of medians {series.middle / bare.middle:.2f}, "
            f"of CPU {series.cpu / bare.cpu:.2f}"
        )
        rows.append(
            Row(
                f"hook {name}",
                both(series),
                both(bare),
                series.least / bare.least,
                2.0 if injects else 1.2,
                note=f"{note}; prints {shown} bytes" if name == _INJECTS else note,
                met=False if injects and not shown else None,
            )
        )
    return rows


def _instructions(environ: Mapping[str, str], talk: Path) -> list[Row]:
    bare = _counted(environ, ["-c", "pass"], b"")
    surface = str(ROOT / "reflector" / "surface")
    rows = []
    for event in EVENTS[HARNESS]:
        words = ["-IS", "-c", _CODE.format(surface=surface, event=event)]
        ours = _counted(environ, words, _payload(talk, event, {}))
        goal = 2.0 if event == _INJECTS else 1.2
        shown = f"{ours / 1e6:.0f} M"
        note = "against python -c pass"
        rows.append(
            Row(f"hook {event}, instructions", shown, f"{bare / 1e6:.0f} M", ours / bare, goal,
                note=note)
        )  # fmt: skip
    return rows


def _counted(environ: Mapping[str, str], words: Sequence[str], given: bytes) -> float:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*tool, sys.executable, *words],
        env=dict(environ), input=given, capture_output=True, check=True,
    )  # fmt: skip
    counted = re.search(r"Collected : (\d+)", done.stderr.decode())
    return float(counted[1]) if counted else 0.0


def _drained(
    environ: Mapping[str, str],
    commands: tuple[Sequence[str], Sequence[str]],
    talk: _Talk,
    new: int,
    rounds: int,
) -> Row:
    """Time the drainer on what the transcript grew by since the turn before, again and again."""
    hook, drain = commands
    spent = []
    entries = 0
    for number in range(rounds):
        if number:
            talk.grow(new)
            with _held(Path(environ["REFLECTOR_HOME"]) / "locks" / "ingest.lock"):
                _run(environ, [*hook, "Stop"], _payload(talk.path, "Stop", {}))
        with cost() as found:
            told = json.loads(_run(environ, [*drain, "--json"]))
        spent.append(found)
        entries = told["entries"]
    least = min(spent, key=lambda each: each.wall)
    note = f"{entries} new entries; {ms(least.cpu)} CPU, the start of the command included"
    return Row(f"drain of {new // 1000} KB that are new", ms(least.wall), "", note=note)


def _side(
    environ: Mapping[str, str], words: Sequence[str], given: bytes = b""
) -> Callable[[], Cost]:
    def once() -> Cost:
        with cost() as found:
            _run(environ, words, given)
        return found

    return once


def _run(environ: Mapping[str, str], words: Sequence[str], given: bytes = b"") -> bytes:
    done = subprocess.run(words, env=dict(environ), input=given, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout
