"""`reflector review list`."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from reflector.core.ambient import stamp
from reflector.runtime.review import Listed, listed
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    parser.description = (
        "List the runs that wait for a person, the oldest first. What nobody decides on is given "
        "up two weeks after its run; `reflector retry RUN` reads its range again."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """List what waits."""
    found = context(args.home, args.identity)
    now = found.ambient.clock.now()
    waiting = listed(found)
    for each in waiting:
        out.say(
            f"{out.style(each.waits.run.id, 'bold')}  {_age(each.waits.since, now):<10}  "
            f"{safe(each.subject)}",
            *(f"  why: {safe(sentence)}" for sentence in each.why),
            f"  {out.style(safe(', '.join(_conversations(each))), 'dim')}",
        )
    if not waiting:
        out.say("No run waits for a review.")
    else:
        out.say(
            "",
            "  reflector review show RUN      what it would change",
            "  reflector review approve RUN   merge it",
            "  reflector review reject RUN    drop it; its lines are not written again",
        )
    out.object({"waiting": [_machine(each) for each in waiting]})
    return 0


def _machine(each: Listed) -> dict[str, Any]:
    return {
        "id": each.waits.run.id,
        "subject": each.subject,
        "why": list(each.why),
        "since": stamp(each.waits.since),
        "until": stamp(each.waits.until),
        "conversations": _conversations(each),
    }


def _conversations(each: Listed) -> list[str]:
    return [taken.conversation for taken in each.waits.run.snapshots]


def _age(since: datetime, now: datetime) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    seconds = max(int((now - since).total_seconds()), 0)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if count := seconds // size:
            return counted(count, unit)
    return "just now"
