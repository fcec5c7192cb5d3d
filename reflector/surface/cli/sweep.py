"""`reflector sweep`."""

from __future__ import annotations

import argparse

from reflector.runtime import log
from reflector.runtime.sweep import sweep
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the dry run."""
    parser.description = (
        "Remove what killed runs left behind. Nothing of a living run is touched, nothing younger "
        "than 15 minutes, and no commit is lost: a tip that is not in main is kept first."
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would go")


def run(args: argparse.Namespace, out: Output) -> int:
    """Sweep, with one receipt for each thing."""
    found = context(args.home, args.identity)
    found.require()
    with log.opened(found.agent.log, identity=found.agent.identity) as logger:
        receipts = sweep(found, logger, dry_run=args.dry_run)
    for each in receipts:
        done = "would go" if args.dry_run else "removed" if each.removed else "FAILED"
        out.say(f"{done:<9} {each.kind:<13} {safe(each.target)}  {safe(each.detail)}".rstrip())
    if not receipts:
        out.say("Nothing to sweep.")
    out.object({"receipts": [each.as_json() for each in receipts]})
    return 0 if args.dry_run or all(each.removed for each in receipts) else 1
