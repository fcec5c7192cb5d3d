"""The import of a whole history: speed, memory that stays flat, and how quick the second one is."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.histories import history
from benchmarks.measure import Row, cost, ms
from benchmarks.place import ROOT, environment
from reflector.core.ambient import system
from reflector.runtime.backfill import Wish, backfill
from reflector.runtime.loop import Quiet
from reflector.runtime.settings import load
from reflector.runtime.wiring import Context
from reflector.store.disk import open_home

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class _Import:
    """What one import in a process of its own took. The peak is of the resident set, in KiB."""

    seconds: float
    cpu: float
    peak: int
    entries: int


def bench(folder: Path, *, quick: bool, large: bool = False) -> list[Row]:
    """Import a small history and a large one, of 64 MB or 1 GB, and each again."""
    whole = MB if quick else 1000 * MB if large else 64 * MB
    rows = []
    sides = {}
    for name, size in (("small", whole // 8), ("large", whole)):
        files = history(folder / name, size)
        first = _apart(folder / f"home-{name}", folder / name)
        again = _apart(folder / f"home-{name}", folder / name)
        sides[name] = (files, first, again)
        rows += _rows(size, *sides[name])
        shutil.rmtree(folder / name)
        shutil.rmtree(folder / f"home-{name}")
    (_, small, _), (_, big, _) = sides.values()
    rows.append(
        Row(
            f"peak memory of an import of {whole / MB:.0f} MB against one of {whole / 8 / MB:.0f} MB",
            f"{big.peak / 1024:.0f} MiB",
            f"{small.peak / 1024:.0f} MiB",
            big.peak / small.peak,
            1.2,
            "flat (≤ 1.2)",
            "resident set of a process of its own",
        )
    )
    return rows


def _rows(size: int, files: int, first: _Import, again: _Import) -> list[Row]:
    speed, rate = size / MB / first.seconds, first.entries / first.seconds
    shown = f"{size / MB:.0f} MB in {files} files"
    pure = size / MB / first.cpu
    note = f"{rate:.0f} entries/s in {ms(first.seconds)}; {pure:.1f} MB per second of CPU"
    second = f"{ms(again.seconds)} for {files} files, {again.entries} new entries"
    return [
        Row(f"import of {shown}", f"{speed:.1f} MB/s", "", note=note),
        Row(
            f"the same import again, against the first ({shown})",
            ms(again.seconds),
            ms(first.seconds),
            again.seconds / first.seconds,
            0.05,
            note=second,
        ),
    ]


def _apart(home: Path, past: Path) -> _Import:
    environ = environment(home.parent / "person")
    places = f"{environ['PYTHONPATH']}:{ROOT / 'scripts'}"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.backfill", str(home), str(past)],
        env={**environ, "PYTHONPATH": places},
        capture_output=True,
        check=True,
    )
    seconds, cpu, peak, entries = done.stdout.split()
    return _Import(float(seconds), float(cpu), int(peak), int(entries))


def import_alone(home: Path, past: Path) -> None:
    """Import a folder into a home; print seconds, the peak of the resident set, new entries."""
    found = open_home(home)
    agent = found.agent("default")
    agent.create()
    agent.repo.mkdir(exist_ok=True)
    context = Context(system(), environment(home / "person"), found, agent, load([], {}))
    with context.state():
        pass  # the tables are made by `init`
    gc.set_threshold(100_000)  # as the command has it
    with cost() as spent:
        done = backfill(context, [past], Wish(), Quiet())
    # Not getrusage: its maximum survives exec, so a small process would show its parent's.
    status = Path("/proc/self/status").read_text("ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    print(spent.wall, spent.cpu, peak, sum(done.conversations.values()))


if __name__ == "__main__":
    import_alone(*map(Path, sys.argv[1:]))
