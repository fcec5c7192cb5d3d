"""`reflector runs`."""

from __future__ import annotations

import argparse

from reflector.core.run import Run
from reflector.runtime.present import run_json
from reflector.runtime.wiring import context
from reflector.store import reservations
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add how many."""
    parser.add_argument(
        "--limit", type=positive, default=20, metavar="N", help="the newest N runs (20)"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """List the newest runs."""
    found = context(args.home, args.identity)
    with found.state() as state:
        runs = reservations.recent(state.connection, args.limit)
    for each in runs:
        out.say(_line(each, out))
    if not runs:
        out.say("No run yet: reflector reflect FILE")
    out.object({"runs": [run_json(each) for each in runs]})
    return 0


def _line(run: Run, out: Output) -> str:
    end = run.settlement
    outcome = end.outcome.value if end else run.phase.value
    entries = sum(each.entries for each in run.snapshots)
    merge = end.merge_commit[:12] if end and end.merge_commit else "-"
    names = ", ".join(each.conversation for each in run.snapshots)
    return (
        f"{run.id}  {outcome:<17} {merge:<12}  {entries:>5} entries  "
        f"{out.style(safe(names), 'dim')}"
    )
