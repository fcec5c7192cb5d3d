"""`reflector decisions stats`."""

from __future__ import annotations

import argparse
from collections import Counter

from reflector.core.decision import FILES
from reflector.runtime.decisions.bank import chosen, held
from reflector.runtime.wiring import context
from reflector.store import bullets, decisions
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which project."""
    parser.description = "How many decisions of this project there are, by kind and by friction."
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Count what a bank holds."""
    found = context(args.home, args.identity)
    bank = chosen(args.bank, here())
    shown = held(found, bank)
    with found.state() as state:
        counts = decisions.counts(state.connection, bank)
        ledger = decisions.ledger(state.connection, bank)
        gone = sum(each.superseded for each in bullets.every(state.connection, bank))
    kinds = Counter(one.delta.kind.value for one in ledger)
    friction = Counter(
        name for one in ledger for name, holds in one.delta.friction.as_json().items() if holds
    )
    lines = Counter(one.file for one in shown.files.bullets)
    out.say(
        f"{safe(bank)}: {counted(lines.total(), 'decision')} in its files, {gone} superseded",
        *(f"  {file}: {lines[file]}" for file in FILES if lines[file]),
        f"messages: {counts.done} extracted, {counts.queued} waiting, "
        f"{sum(counts.skipped.values())} skipped",
        f"deltas: {counts.waiting} waiting, {counts.consumed} consumed",
        *(f"  {name}: {count}" for name, count in sorted(kinds.items())),
        *(f"  {name}: {count}" for name, count in sorted(friction.items())),
    )
    out.object(
        {
            "bank": bank,
            "bullets": {file: lines[file] for file in FILES},
            "superseded": gone,
            "messages": {
                "extracted": counts.done,
                "queued": counts.queued,
                "skipped": sum(counts.skipped.values()),
            },
            "deltas": {"waiting": counts.waiting, "consumed": counts.consumed},
            "kinds": dict(sorted(kinds.items())),
            "friction": dict(sorted(friction.items())),
            "origins": dict(sorted(Counter(one.origin for one in ledger).items())),
        }
    )
    return 0
