"""`reflector decisions consolidate`."""

from __future__ import annotations

import argparse
from datetime import datetime

from reflector.core.ambient import stamp
from reflector.core.run import Outcome as RunOutcome
from reflector.core.run import exit_code
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.due import Wish
from reflector.runtime.decisions.foreground import Outcome, consolidate_now
from reflector.runtime.present import run_json
from reflector.runtime.wiring import context
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output, counted, safe
from reflector.surface.cli.pointers import ended, waits_for_you, where
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.waits import told
from reflector.surface.cli.watch import TerminalWatch

_LATER = 4
_WHY = told("decisions.enabled is false", "nothing is due")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add how much is asked for."""
    parser.description = (
        "Extract decisions from the messages that wait, and bring those that friction has shown to "
        "matter into their project's files."
    )
    parser.add_argument("--force", action="store_true", help="do not wait for the interval")
    parser.add_argument("--bank", metavar="BANK", help="one project, instead of all")
    parser.add_argument(
        "--over-budget", action="store_true", help="although a limit of the day is reached"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Do it in the foreground, and say what is left and why."""
    found = context(args.home, args.identity)
    bank = chosen(args.bank, None) if args.bank else ""
    wish = Wish(bank, force=args.force, over_budget=args.over_budget)
    with stoppable() as stop:
        watch = TerminalWatch(out, stop)
        done = consolidate_now(found, watch, wish)
    out.done()
    now = found.ambient.clock.now()
    _tell(done, now, out)
    for each in done.runs:
        if each.outcome is RunOutcome.AWAITING_REVIEW:
            out.say(*waits_for_you(each, where(args)))
    out.object(_json(done, now))
    if watch.stop():
        return INTERRUPTED
    return _code(done, force=args.force)


def _tell(done: Outcome, now: datetime, out: Output) -> None:
    worked = done.worked
    if worked.extracted or worked.skipped or worked.failed:
        out.say(
            f"{counted(worked.extracted, 'message')} read, {counted(worked.deltas, 'decision')} "
            f"understood, {worked.skipped} skipped, {worked.failed} failed"
        )
    for each in done.runs:
        out.say(f"Run {each.id} (decisions): {ended(each)}")
        if each.settlement and each.settlement.detail:
            out.say(f"  {safe(each.settlement.detail)}")
    out.say(f"{done.waiting} waiting, {done.eligible} eligible; {_next(done.end, now)}")
    if done.queued:
        why = _WHY[worked.held.why] if worked.held else "stopped"
        out.say(f"{counted(done.queued, 'message')} not read yet: {why}")


def _next(end: Waits, now: datetime) -> str:
    if end.until is None:
        return _WHY[end.why]
    minutes = max(0, int((end.until - now).total_seconds() + 59) // 60)
    due = f"next due in {minutes} min"
    return due if end.why == "nothing" else f"{_WHY[end.why]}; {due}"


def _json(done: Outcome, now: datetime) -> dict[str, object]:
    worked, until = done.worked, done.end.until
    due = [plan.due_at for plan in done.left if plan.due_at is not None]
    return {
        "extracted": {
            "messages": worked.extracted,
            "deltas": worked.deltas,
            "skipped": worked.skipped,
            "failed": worked.failed,
            "held": worked.held.why if worked.held else None,
        },
        "runs": [run_json(each) for each in done.runs],
        "queued": done.queued,
        "waiting": done.waiting,
        "eligible": done.eligible,
        "why": done.end.why,
        "next_due_at": stamp(until or max(now, min(due))) if until or due else None,
    }


def _code(done: Outcome, *, force: bool) -> int:
    """Return the exit code: that of the last run, or later for what a person asked for in vain."""
    last = done.runs[-1].outcome if done.runs else None
    if last is not None:
        return exit_code(last)
    if done.worked.failed and not done.worked.extracted:
        return 1
    in_vain = done.end.why in ("day_runs", "day_cost", "kept_tip", "parked")
    return _LATER if force and in_vain else 0
