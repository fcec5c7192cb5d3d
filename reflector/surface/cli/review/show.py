"""`reflector review show`."""

from __future__ import annotations

import argparse

from reflector.runtime.present import run_json
from reflector.runtime.review import Prospect, prospect, waiting_run, why
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.show import coloured, evidence, report, tell


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run."""
    parser.description = (
        "Show what a waiting run would change, why it waits, and whether it would be merged now. "
        "Nothing is changed."
    )
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show one run that waits."""
    found = context(args.home, args.identity)
    with found.state() as state:
        shown = waiting_run(state, args.run)
        now = prospect(found, state, shown)
    diff, commits = evidence(found, shown)
    said = report(found, shown)
    tell(shown, said, out)
    out.say("", *(f"Why it waits: {safe(sentence)}" for sentence in why(shown)))
    out.say(_merges(now, out))
    if diff:
        out.say("", *(coloured(line, out) for line in diff.rstrip("\n").split("\n")))
    out.object(
        {
            "run": run_json(shown),
            "why": list(why(shown)),
            "merges_now": now.as_json(),
            "diff": diff,
            "report": said,
            "commits": commits,
        }
    )
    return 0


def _merges(now: Prospect, out: Output) -> str:
    if now.kind == "merges":
        return out.style("It would be merged now.", "green")
    paths = f" ({', '.join(now.paths)})" if now.paths else ""
    return out.style("It would not be merged now: ", "red") + safe(f"{now.detail}{paths}")
