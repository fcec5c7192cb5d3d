"""`reflector dream`."""

from __future__ import annotations

import argparse

from reflector.core.run import Outcome, exit_code
from reflector.runtime.dream import dream
from reflector.runtime.learned import learned
from reflector.runtime.present import run_json
from reflector.runtime.wiring import context
from reflector.surface.cli.engine import add_engine, chosen
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.pointers import ended, waits_for_you, where
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.watch import TerminalWatch


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the target document."""
    parser.description = (
        "Go over the memory itself and what several conversations show together: merge, correct, "
        "demote, archive. With --doc it changes that document only."
    )
    parser.add_argument("--doc", metavar="PATH", help="the only document to change")
    add_engine(parser)
    parser.add_argument(
        "--over-budget", action="store_true", help="dream although a limit of the day is reached"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Dream in the foreground, and say what became of it."""
    found = chosen(context(args.home, args.identity), args)
    with stoppable() as stop:
        watch = TerminalWatch(out, stop)
        runs = dream(found, watch, args.doc, over_budget=args.over_budget)
    out.done()
    lessons = learned(found, runs)
    for each in runs:
        end = each.settlement
        out.say(f"Run {each.id} ({each.request.pipeline}): {ended(each)}")
        if end and end.detail:
            out.say(f"  {safe(end.detail)}")
    out.say(*(f"  {change.change} {safe(change.path)}" for change in lessons.changes))
    if runs and runs[-1].outcome is Outcome.AWAITING_REVIEW:
        out.say(*waits_for_you(runs[-1], where(args)))
    out.object(
        {
            "run": run_json(runs[-1]) if runs else None,
            "runs": [run_json(each) for each in runs],
            "changes": [each.as_json() for each in lessons.changes],
            "report": lessons.report,
        }
    )
    if watch.stop():
        return INTERRUPTED
    last = runs[-1].outcome if runs else None
    return exit_code(last) if last else 0
