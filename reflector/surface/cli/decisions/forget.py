"""`reflector decisions forget`."""

from __future__ import annotations

import argparse

from reflector.core.cleaning import clean
from reflector.runtime.decisions.by_hand import forget
from reflector.runtime.wiring import context
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which delta."""
    parser.description = (
        "Remove one delta from the ledger: what was understood of a message. The message itself and "
        "a decision that rests on it stay; `reflector memory forget` removes words everywhere."
    )
    parser.add_argument("id", metavar="ID", type=positive, help="the number of a delta")


def run(args: argparse.Namespace, out: Output) -> int:
    """Forget it, and tell what still rests on it."""
    done = forget(context(args.home, args.identity), args.id)
    out.say(f"Delta {args.id} of {safe(done.bank)} is forgotten.")
    for place, text in done.bullets:
        out.say(f"  still written down at {safe(place)}: {safe(clean(text))}")
    out.object(
        {
            "id": args.id,
            "bank": done.bank,
            "bullets": [{"place": place, "text": text} for place, text in done.bullets],
        }
    )
    return 0
