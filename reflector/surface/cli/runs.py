"""`reflector runs`."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence

from reflector.core.errors import ReflectorError
from reflector.core.run import Run
from reflector.runtime.present import run_json
from reflector.runtime.wiring import Context, context
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
    undone = taken_back(found, runs)
    for each in runs:
        out.say(_line(each, out, undone=each.id in undone))
    if not runs:
        out.say("No run yet: reflector reflect FILE")
    out.object({"runs": [run_json(each) for each in runs]})
    return 0


def taken_back(found: Context, runs: Sequence[Run]) -> frozenset[str]:
    """Return those that were undone; none when the repository cannot tell."""
    if not any(each.merge_commit for each in runs):
        return frozenset()
    from reflector.runtime.undo import undone_by  # noqa: PLC0415 - git is not free

    with contextlib.suppress(ReflectorError):
        return frozenset(undone_by(found, runs))
    return frozenset()


def _line(run: Run, out: Output, *, undone: bool) -> str:
    end = run.settlement
    outcome = end.outcome.value if end else run.phase.value
    outcome += ", undone" if undone else ""
    entries = sum(each.entries for each in run.snapshots)
    noun = "entry  " if entries == 1 else "entries"
    merge = end.merge_commit[:12] if end and end.merge_commit else "-"
    names = ", ".join(each.conversation for each in run.snapshots)
    return (
        f"{run.id}  {run.request.pipeline:<11}  {outcome:<17} {merge:<12}  {entries:>5} {noun}"
        f"  {out.style(safe(names), 'dim')}"
    )
