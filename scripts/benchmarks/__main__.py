"""`scripts/bench [NAME…] [--quick]`: every figure as a ratio within one run, a table at the end."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import HEADINGS, MISSED, Row, table
from benchmarks.place import file_system, workspace

BENCHMARKS = {
    "runs": "a whole reflect run against plain git, and its parts",
    "git_work": "the git work of a run in one warm process against plain git",
    "journaling": "journal append, ingest speed and memory",
    "backfill": "the import of a whole history: speed, memory, the second time",
    "hooks": "what Claude Code waits for, and the drainer",
    "events": "what an event costs: hook, front door, reservations, sweep",
    "startup": "the start of the command against that of Python",
    "redaction": "redaction speed, and linearity on adversarial text",
    "memory": "lint, validation and short memory",
    "models": "a run by a model: first request, tool calls, memory",
    "compile": "the compiled block after one commit against everything read anew",
    "decisions": "project decisions: candidates admitted, a large ledger planned over",
    "diary": "the diary at its largest: what comes to mind, and the block",
    "recall": "how well recall finds, against other ways to search",
    "index": "the search index: made, after one commit, asked",
}

_HAVE_LARGE = ("backfill", "index")
_LARGE = "index: 100 000 documents too; backfill: 1 GB; each takes minutes"
_TOY = "Toy sizes: the figures say only that every benchmark works."


def main(argv: list[str]) -> int:
    """Run the chosen benchmarks; a missed goal is said, not punished: always 0."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    listed = ", ".join(f"{name} ({what})" for name, what in BENCHMARKS.items())
    parser.add_argument("names", nargs="*", metavar="NAME", help=listed)
    parser.add_argument("--quick", action="store_true", help="toy sizes, to see that it works")
    parser.add_argument("--large", action="store_true", help=_LARGE)
    args = parser.parse_args(argv)
    unknown = sorted(set(args.names) - BENCHMARKS.keys())
    if unknown:
        parser.error(
            f"there is no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}"
        )
    rows: list[Row] = []
    with workspace() as folder:
        _say_where(folder)
        for name in args.names or BENCHMARKS:
            rows += _run(name, folder, quick=args.quick, large=args.large)
    if args.quick:
        rows = [replace(row, goal=None, shown_goal="", met=None) for row in rows]
    print("\n" + table(HEADINGS, [row.cells for row in rows]))
    print("\n" + (_TOY if args.quick else _conclusion(rows)))
    return 0


def _say_where(folder: Path) -> None:
    print(
        f"Files on {file_system(folder)}; Python {platform.python_version()}, {os.cpu_count()} CPUs."
    )
    print("Sides take turns; times are the smallest / the median; ratios are of the smallest.")


def _run(name: str, folder: Path, *, quick: bool, large: bool) -> list[Row]:
    print(f"\n## {name}: {BENCHMARKS[name]}", flush=True)
    began = time.perf_counter()
    work: Callable[..., list[Row]] = importlib.import_module(f"benchmarks.{name}").bench
    try:
        more = {"large": True} if large and name in _HAVE_LARGE else {}
        rows = work(folder, quick=quick, **more)
    except Exception:  # noqa: BLE001 - one broken benchmark must not hide the others
        traceback.print_exc()
        rows = [Row(name, "broken", "see above", note="it failed")]
    print(f"\n({name} took {time.perf_counter() - began:.0f} s)", flush=True)
    return rows


def _conclusion(rows: list[Row]) -> str:
    missed = [row.name for row in rows if row.verdict == MISSED]
    return f"Missed: {'; '.join(missed)}." if missed else "No goal is missed."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
