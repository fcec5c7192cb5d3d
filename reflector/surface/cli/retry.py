"""`reflector retry`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reflector.core.errors import UsageError
from reflector.core.machine import SLOT
from reflector.core.run import Outcome, Run, exit_code
from reflector.runtime.experiences.names import SLOT as EXPERIENCES
from reflector.runtime.learned import learned
from reflector.runtime.present import run_json
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.review import asking
from reflector.runtime.wiring import Context, context
from reflector.store import reservations
from reflector.surface.cli.main import INTERRUPTED
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.pointers import ended, waits_for_you, where
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.watch import TerminalWatch

_LATER = 4
_ASKED = (Outcome.AWAITING_REVIEW, Outcome.REJECTED)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run."""
    parser.description = (
        "Run what one run read again, exactly the recorded ranges. A replay: no cursor moves."
    )
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")
    parser.add_argument(
        "--over-budget", action="store_true", help="run although a limit of the day is reached"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Replay the ranges of a run."""
    found = context(args.home, args.identity)
    with found.state() as state:
        again = reservations.find(state.connection, args.run)
    if again.slot == EXPERIENCES:
        return _extracted(found, again, args, out)
    if again.slot != SLOT["reflection"]:
        raise UsageError(
            f"Run {again.id} read no conversations, so there is no range to read again.",
            hint="`reflector decisions consolidate --force` takes up what waits.",
        )
    return _reflected(found, again, args, out)


def _reflected(found: Context, again: Run, args: argparse.Namespace, out: Output) -> int:
    with stoppable() as stop:
        # What a person was asked about is not merged behind their back by reading it again.
        found = asking(found) if again.outcome in _ASKED else found
        options = Options(ranges=again.snapshots, over_budget=args.over_budget)
        done = reflect(found, options, TerminalWatch(out, stop))
    out.done()
    if done.over:
        raise done.over
    return _told(found, done.runs, args, out, interrupted=done.interrupted)


def _extracted(found: Context, again: Run, args: argparse.Namespace, out: Output) -> int:
    from reflector.runtime.experiences.due import Wish  # noqa: PLC0415 - seldom needed
    from reflector.runtime.experiences.foreground import extract_now  # noqa: PLC0415

    with stoppable() as stop:
        found = asking(found) if again.outcome in _ASKED else found
        wish = Wish(force=True, ranges=again.snapshots, over_budget=args.over_budget)
        done = extract_now(found, TerminalWatch(out, stop), wish)
        interrupted = stop()
    out.done()
    if not done.runs:
        out.say(f"Nothing was read again: {done.end.why}.")
    code = _told(found, done.runs, args, out, interrupted=interrupted)
    return code or (0 if done.runs else _LATER)


def _told(
    found: Context, runs: Sequence[Run], args: argparse.Namespace, out: Output, *, interrupted: bool
) -> int:
    last = runs[-1] if runs else None
    lessons = learned(found, runs)
    if last and last.settlement:
        out.say(f"Run {last.id}: {ended(last)}")
        if last.settlement.detail:
            out.say(f"  {safe(last.settlement.detail)}")
        out.say(*(f"  {each.change} {safe(each.path)}" for each in lessons.changes))
        if last.outcome is Outcome.AWAITING_REVIEW:
            out.say(*waits_for_you(last, where(args)))
    out.object(
        {
            "run": run_json(last) if last else None,
            "changes": [each.as_json() for each in lessons.changes],
        }
    )
    if interrupted:
        return INTERRUPTED
    return exit_code(last.outcome) if last and last.outcome else 0
