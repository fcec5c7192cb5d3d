"""The journal: append at any length, ingest against decoding alone, memory that stays flat."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from benchmarks.measure import Cost, Row, both, cost, interleaved, ms, repeated, table
from benchmarks.memories import prose, session
from benchmarks.place import ROOT, environment
from reflector.core.ambient import system
from reflector.core.capture import capture
from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.harness import reading
from reflector.harness.lines import read_rows
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from reflector.runtime.settings import load
from reflector.runtime.wiring import Context
from reflector.store.disk import open_home
from reflector.store.journal import Appender
from reflector.store.state import State, opened

MB = 1_000_000
_CONVERSATION = 500
"""Entries of one conversation; a long journal is one of many conversations."""

_REAL = ROOT.parent / "shared" / "data" / "transcripts"


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Measure all three."""
    rows = [_append(folder, *((100, 1000, 3) if quick else (1000, 100_000, 30)))]
    files = [session(folder / "made-up.jsonl", 200_000 if quick else 10 * MB)]
    files += [] if quick else _largest(_REAL)
    rows += [_ingest(folder, file, 2 if quick else 9) for file in files]
    rows.append(_flat(folder, *((MB, 3 * MB) if quick else (50 * MB, 500 * MB))))
    return rows


def _largest(folder: Path) -> list[Path]:
    """Return the largest recorded session of each harness, where there are any."""
    found = [max(folder.glob(f"{name}/*.jsonl"), key=_size, default=None)
             for name in ("claude-code", "codex")]  # fmt: skip
    return [file for file in found if file is not None]


def _size(file: Path) -> int:
    return file.stat().st_size


# Append


@dataclass(slots=True)
class _Appends:
    """Appends to a journal of one size, in transactions of ten; every round begins with a copy."""

    home: Path
    size: int
    _numbers: Iterator[int] = field(default_factory=count)

    def prepare(self) -> None:
        """Fill the journal that every round copies."""
        (self.home / "locks").mkdir(parents=True)
        with self._opened("full.db") as state:
            self._grow(state, self.size)

    def __call__(self) -> Cost:
        """Append two hundred entries."""
        shutil.copyfile(self.home / "full.db", self.home / "state.db")
        with self._opened("state.db") as state:
            self._grow(state, 10)  # the database is open, its statements are known
            with cost() as found:
                for _ in range(20):
                    self._grow(state, 10)
        return found

    def _opened(self, name: str) -> AbstractContextManager[State]:
        return opened(self.home / name, system().clock, durability="NORMAL")

    def _grow(self, state: State, entries: int) -> None:
        with state.transaction() as connection:
            appender = Appender(connection, "2026-11-30T10:00:00Z")
            for _ in range(entries):
                number = next(self._numbers)
                session = ConversationKey("bench", f"session-{number // _CONVERSATION}")
                appender.append(appender.conversation(session, None), _entry(number))


def _entry(number: int) -> Entry:
    kind = Kind.ASSISTANT if number % 2 else Kind.USER
    text = prose(number, 40)
    # Spread like native ids are, so that the index is not filled from one end.
    native = number * 2_654_435_761 % 2**32
    return Entry(f"bench:{native:08x}-{number}:0", f"m{native:08x}", kind, text)


def _append(folder: Path, small: int, large: int, rounds: int) -> Row:
    journals = {size: _Appends(folder / f"journal-{size}", size) for size in (large, small)}
    for each in journals.values():
        each.prepare()
    sides = {"large": journals[large], "small": journals[small]}
    found = interleaved(rounds, sides)
    return Row(
        f"append 200 entries to {large} against to {small}",
        both(found["large"]),
        both(found["small"]),
        found["large"].least / found["small"].least,
        1.2,
        note=f"ratio of medians {found['large'].middle / found['small'].middle:.2f}",
    )


# Ingest


def _context(home: Path) -> Context:
    found = open_home(home)
    agent = found.agent("default")
    agent.create()
    agent.repo.mkdir(exist_ok=True)
    return Context(system(), environment(home / "person"), found, agent, load([], {}))


def _ingest(folder: Path, file: Path, rounds: int) -> Row:
    numbers = count()

    def ours() -> Cost:
        context = _context(folder / f"ingest-{file.stem}-{next(numbers)}")
        with context.state():
            pass  # the tables are made by `init`
        with cost() as found:
            ingest(context, file, Quiet())
        return found

    def decode() -> Cost:
        with cost() as found, file.open("rb") as stream:
            for line in stream:
                _decoded(line)
        return found

    found = interleaved(rounds, {"ours": ours, "decode": decode})
    _print_stages(file, found["ours"].least)
    size = _size(file) / MB
    fast, bare = (size / found[side].least for side in ("ours", "decode"))
    return Row(
        f"ingest {_shown(file)} of {size:.1f} MB against json.loads",
        f"{fast:.1f} MB/s",
        f"{bare:.0f} MB/s",
        bare / fast,
        4,
        note=f"ratio of medians {found['ours'].middle / found['decode'].middle:.2f}",
    )


def _print_stages(file: Path, ours: float) -> None:
    """Show where the time of an ingest goes. Each stage is measured by doing it and all before it."""
    with file.open("rb") as stream:
        rows = repeated(3, lambda: sum(1 for _ in read_rows(stream, 0))).least
        source = reading.open_source(stream, file.stem)
        folded = repeated(3, lambda: sum(1 for _ in source.batches(reading.Position()))).least
        batches = source.batches(reading.Position())
        entries = [
            each.entry
            for batch in batches
            for each in batch.records
            if isinstance(each, reading.Appended)
        ]
    taken = repeated(3, lambda: [capture(entry) for entry in entries]).least
    stages = {
        "split and decode": rows,
        "fold and pair": folded - rows,
        "strip, redact, shorten": taken,
        "consent, store": ours - folded - taken,
    }
    print(f"\nIngest of {_shown(file)}, {len(entries)} entries:\n")
    print(
        table(
            ("stage", "time", "share"), [(k, ms(v), f"{v / ours:.0%}") for k, v in stages.items()]
        )
    )


def _shown(file: Path) -> str:
    return (
        "a made-up session" if file.stem == "made-up" else f"a recorded {file.parent.name} session"
    )


def _decoded(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


# Memory


def _flat(folder: Path, small: int, large: int) -> Row:
    peaks = [_peak(folder, size) for size in (small, large)]
    return Row(
        f"peak memory of an ingest of {large // MB} MB against {small // MB} MB",
        f"{peaks[1] / 1024:.0f} MiB",
        f"{peaks[0] / 1024:.0f} MiB",
        peaks[1] / peaks[0],
        1.2,
        "flat (≤ 1.2)",
        "resident set of a process of its own",
    )


def _peak(folder: Path, size: int) -> int:
    file = session(folder / f"session-{size}.jsonl", size)
    words = [sys.executable, "-m", "benchmarks.journaling", str(folder / f"peak-{size}"), str(file)]
    environ = environment(folder / "person")
    places = f"{environ['PYTHONPATH']}:{ROOT / 'scripts'}"
    done = subprocess.run(
        words, env={**environ, "PYTHONPATH": places}, capture_output=True, check=True
    )
    file.unlink()
    return int(done.stdout)


def ingest_alone(words: Sequence[str]) -> None:
    """Ingest one file into a home and print the peak of the resident set in KiB."""
    home, file = map(Path, words)
    ingest(_context(home), file, Quiet())
    # Not getrusage: its maximum survives exec, so a small process would show its parent's.
    status = Path("/proc/self/status").read_text("ascii")
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    ingest_alone(sys.argv[1:])
