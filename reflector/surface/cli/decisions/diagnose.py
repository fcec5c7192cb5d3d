"""`reflector decisions diagnose`."""

from __future__ import annotations

import argparse

from reflector.core.cleaning import clean
from reflector.memory.finding import Finding
from reflector.runtime.decisions.bank import banks, held
from reflector.runtime.wiring import Context, context
from reflector.store import decisions
from reflector.store.decisions import Counts
from reflector.surface.cli.output import Output, counted, safe

_EXTRACTS = {
    "rules": "the rules engine takes explicit statements alone",
    "anthropic": "one small call for each message",
    "command": "nobody: an agent CLI makes no small calls, so messages wait",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    parser.description = (
        "What extraction refused and why, which messages it passed over, rows that this version "
        "cannot read, and files over their limits; of all projects of this identity."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Tell what goes wrong, or that nothing does."""
    found = context(args.home, args.identity)
    with found.state() as state:
        counts = decisions.counts(state.connection)
    faults = [
        (each.name, fault) for each in banks(found) for fault in held(found, each.name).faults
    ]
    _told(found, counts, faults, out)
    out.object(
        {
            "enabled": found.settings.flag("decisions.enabled"),
            "engine": found.settings.text("engine.name"),
            "queued": counts.queued,
            "failed": counts.failed,
            "oldest_at": counts.oldest_at or None,
            "last_error": counts.last_error or None,
            "rejected": dict(counts.rejected),
            "skipped": dict(counts.skipped),
            "unreadable": counts.unreadable,
            "findings": [fault.as_json() | {"bank": bank} for bank, fault in faults],
        }
    )
    return 0


def _told(found: Context, counts: Counts, faults: list[tuple[str, Finding]], out: Output) -> None:
    engine = found.settings.text("engine.name")
    by = _EXTRACTS.get(engine, "")
    if not found.settings.flag("decisions.enabled"):
        by = "nobody: decisions.enabled is false"
    out.say(f"extraction by {engine}: {by}")
    waits = f", the oldest since {counts.oldest_at[:16]}" if counts.oldest_at else ""
    out.say(
        f"{counted(counts.queued, 'message')} in the queue{waits}; {counts.failed} failed before"
    )
    if counts.last_error:
        out.say(f"  last error: {safe(clean(counts.last_error))}")
    for title, told in (
        ("candidates refused", counts.rejected),
        ("messages skipped", counts.skipped),
    ):
        listed = ", ".join(f"{safe(why)} {count}" for why, count in told.items())
        out.say(f"{title}: {listed or 'none'}")
    if counts.unreadable:
        out.say(
            f"{counted(counts.unreadable, 'row')} of the ledger of a newer version or damaged: kept,"
            " and passed over."
        )
    for bank, fault in faults:
        where = f"{safe(bank)}/{fault.path}.md"
        out.say(f"{out.style('fault', 'yellow')}  {where}: {safe(clean(fault.message))}")
