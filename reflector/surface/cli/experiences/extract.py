"""`reflector experiences extract`."""

from __future__ import annotations

import argparse
from datetime import datetime

from reflector.core.ambient import stamp
from reflector.core.errors import UsageError
from reflector.core.run import Outcome as RunOutcome
from reflector.core.run import Run, exit_code
from reflector.runtime.experiences.due import Wish
from reflector.runtime.experiences.foreground import Outcome, extract_now
from reflector.runtime.present import run_json
from reflector.runtime.wiring import context
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output, counted, safe
from reflector.surface.cli.pointers import ended, waits_for_you, where
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.waits import told
from reflector.surface.cli.watch import TerminalWatch

_LATER = 4
_WHY = told("experiences.enabled is false", "nothing more to read")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what is read, and whether anything is kept of it."""
    parser.description = (
        "Extract experiences and facts from what was said since the last time, without waiting "
        "for conversations to be quiet."
    )
    add = parser.add_argument
    add("--conversation", metavar="ID", action="append", help="only this one; may be given again")
    add("--all", action="store_true", help="read those conversations from their beginning")
    add("--dry-run", action="store_true", help="make and check the change, and keep nothing of it")
    add("--over-budget", action="store_true", help="although a limit of the day is reached")


def run(args: argparse.Namespace, out: Output) -> int:
    """Do it in the foreground, and say what is left and why."""
    if args.all and not args.conversation:
        raise UsageError(
            "--all reads whole conversations again, each at a price.",
            hint="Name them: --conversation ID --all.",
        )
    found = context(args.home, args.identity)
    wish = Wish(
        conversations=tuple(dict.fromkeys(args.conversation or ())),
        force=True,
        everything=args.all,
        dry_run=args.dry_run,
        over_budget=args.over_budget,
    )
    with stoppable() as stop:
        watch = TerminalWatch(out, stop)
        done = extract_now(found, watch, wish)
    out.done()
    for each in done.runs:
        _tell(each, out)
        if each.outcome is RunOutcome.AWAITING_REVIEW:
            out.say(*waits_for_you(each, where(args)))
    if not done.runs and args.conversation and not args.all and done.end.why == "nothing":
        out.say("Nothing new there; `--all` reads it from its beginning.")
    out.say(_end(done))
    out.object(_json(done, found.ambient.clock.now()))
    return INTERRUPTED if watch.stop() else _code(done)


def _tell(each: Run, out: Output) -> None:
    out.say(f"Run {each.id} (experiences): {ended(each)}")
    if each.settlement and each.settlement.detail:
        out.say(f"  {safe(each.settlement.detail)}")


def _end(done: Outcome) -> str:
    if not done.waiting:
        return _WHY[done.end.why]
    left = f"{counted(len(done.waiting), 'conversation')} left"
    # After a dry run, a failure or a choice of conversations there is more to read all the same.
    return left if done.end.why == "nothing" else f"{_WHY[done.end.why]}; {left}"


def _json(done: Outcome, now: datetime) -> dict[str, object]:
    until = done.end.until
    return {
        "runs": [run_json(each) for each in done.runs],
        "waiting": list(done.waiting),
        "why": done.end.why,
        "next_due_at": stamp(max(until, now)) if until else None,
    }


def _code(done: Outcome) -> int:
    """Return the exit code: that of the last run, or later for what was asked for in vain."""
    last = done.runs[-1].outcome if done.runs else None
    if last is not None:
        return exit_code(last)
    return _LATER if done.end.why in ("day_runs", "day_cost", "kept_tip", "parked") else 0
