"""`reflector decisions queue`."""

from __future__ import annotations

import argparse
from datetime import datetime

from reflector.core.ambient import stamp
from reflector.pipelines.decisions.law import Ground, Ruling
from reflector.runtime.calls.names import ASKS
from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.planning import Plan, plans
from reflector.runtime.wiring import Context, context
from reflector.store import decisions
from reflector.store.decisions import Counts
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.decisions.rows import recorded_json, tell
from reflector.surface.cli.output import Output, counted, safe

_LISTED = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which project."""
    parser.description = (
        "What was understood of this project's conversations and is in no file yet. A decision "
        "enters once friction shows that it matters; until then it waits here."
    )
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what waits in a bank, and when it is due."""
    found = context(args.home, args.identity)
    bank = chosen(args.bank, here())
    now = found.ambient.clock.now()
    with found.state() as state:
        counts = decisions.counts(state.connection, bank)
        every = plans(state.connection, found.settings, now)
    plan = next((each for each in every if each.bank == bank), Plan(bank, (), None))
    _told(plan, counts, found, now, out)
    out.object(
        {
            "bank": bank,
            "queued": counts.queued,
            "waiting": counts.waiting,
            "eligible": len(plan.eligible),
            "unreadable": counts.unreadable,
            "next_due_at": stamp(plan.due_at) if plan.due_at else None,
            "deltas": [_json(each) for each in plan.rulings],
        }
    )
    return 0


def _told(plan: Plan, counts: Counts, found: Context, now: datetime, out: Output) -> None:
    eligible = len(plan.eligible)
    due = _due(plan, now, found.settings.text("engine.name"))
    out.say(f"{safe(plan.bank)}: {counts.waiting} waiting, {eligible} eligible; {due}")
    if counts.queued:
        waits = "waits" if counts.queued == 1 else "wait"
        out.say(f"{counted(counts.queued, 'message')} {waits} for extraction")
    if not found.settings.flag("decisions.enabled"):
        out.say("Nothing is extracted or consolidated: decisions.enabled is false.")
    if counts.unreadable:
        told = counted(counts.unreadable, "row")
        out.say(f"{told} of another form; `reflector decisions diagnose` tells more.")
    # Those that enter next come first, then the newest.
    ranked = sorted(plan.rulings, key=lambda each: (not each.eligible, -each.recorded.id))
    for each in ranked[:_LISTED]:
        tell(each.recorded, _why(each), out)
    if (rest := len(ranked) - _LISTED) > 0:
        out.say(f"and {rest} more; --json lists them all")


def _due(plan: Plan, now: datetime, engine: str) -> str:
    if plan.due_at is None:
        return "nothing is due"
    if engine != ASKS:
        return f"none enters with the engine {engine}, `engine.name` {ASKS} brings them in"
    seconds = (plan.due_at - now).total_seconds()
    return f"next due in {int(seconds + 59) // 60} min" if seconds > 0 else "due now"


_GROUNDS: dict[Ground, str] = {
    "regression": "enters: it broke, here or in a decision like it",
    "subtle": "enters: the code does not show it",
    "corrected_twice": "enters: set right in two conversations",
    "reversal": "enters: it takes back what was used or refused before",
    "by_hand": "enters: a person asked for it",
    "all": "enters: decisions.admission is all",
    "waiting": "waits for friction",
}


def _why(ruling: Ruling) -> str:
    if ruling.ground == "waiting" and ruling.recorded.delta.friction.corrective:
        return "waits to be set right in a second conversation"
    return _GROUNDS[ruling.ground]


def _json(each: Ruling) -> dict[str, object]:
    return recorded_json(each.recorded) | {
        "eligible": each.eligible,
        "ground": each.ground,
        "lineage": [one.id for one in each.lineage.deltas],
    }
