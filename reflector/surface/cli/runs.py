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
from reflector.surface.cli.pointers import NOT_STARTED, STOPPED, outcome

_HARMLESS = "stopped, not started: no failure; nothing was changed, and a later run reads the same"


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
    if any(outcome(each) in {STOPPED, NOT_STARTED} for each in runs):
        out.say(out.style(_HARMLESS, "dim"))
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
    said = outcome(run) + (", undone" if undone else "")
    entries = sum(each.entries for each in run.snapshots)
    noun = "entry  " if entries == 1 else "entries"
    merge = end.merge_commit[:12] if end and end.merge_commit else "-"
    names = ", ".join(each.conversation for each in run.snapshots)
    return (
        f"{run.id}  {run.request.pipeline:<11}  {said:<17} {merge:<12}  {entries:>5} {noun}"
        f"  {out.style(safe(names), 'dim')}"
    )
