"""`reflector review approve`."""

from __future__ import annotations

import argparse

from reflector.runtime.learned import learned
from reflector.runtime.present import run_json
from reflector.runtime.review import approve
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run."""
    parser.description = (
        "Validate a waiting run again and merge it like any other. What cannot be merged any more "
        "says why, and goes on waiting."
    )
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")


def run(args: argparse.Namespace, out: Output) -> int:
    """Merge a run that waits."""
    found = context(args.home, args.identity)
    done = approve(found, args.run)
    changes = learned(found, [done]).changes
    out.say(
        f"Approved run {done.id}: merged by {done.merge_commit}",
        *(f"  {safe(each.path)} {each.change}" for each in changes),
    )
    out.object(
        {
            "run": run_json(done),
            "changes": [each.as_json() for each in changes],
        }
    )
    return 0
