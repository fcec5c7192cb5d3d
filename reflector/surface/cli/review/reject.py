"""`reflector review reject`."""

from __future__ import annotations

import argparse

from reflector.runtime.present import run_json
from reflector.runtime.review import reject
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run, and why."""
    parser.description = (
        "Drop a waiting run. What it wanted to write is not written again without asking you; what "
        "it read counts as read, and `reflector retry RUN` reads it again."
    )
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the ledger")


def run(args: argparse.Namespace, out: Output) -> int:
    """Drop a run that waits."""
    found = context(args.home, args.identity)
    done = reject(found, args.run, args.reason)
    said = f": {safe(args.reason)}" if args.reason else ""
    out.say(
        f"Rejected run {done.id}{said}",
        f"Its lines are not written again without asking you; `reflector retry {done.id}` reads "
        "again what it read.",
    )
    out.object({"run": run_json(done)})
    return 0
