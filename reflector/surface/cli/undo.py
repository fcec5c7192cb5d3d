"""`reflector undo`."""

from __future__ import annotations

import argparse

from reflector.runtime.undo import undo
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which run."""
    parser.description = (
        "Take one run's merge back by a new commit; history keeps both. A run that writes the same "
        "lines again waits for your review."
    )
    parser.add_argument("run", metavar="RUN", help="a run id, or its beginning")


def run(args: argparse.Namespace, out: Output) -> int:
    """Revert the merge of a run."""
    done = undo(context(args.home, args.identity), args.run)
    out.say(f"Undid run {done.run} by commit {done.commit}", *(f"  {safe(p)}" for p in done.paths))
    if done.unwanted:
        out.say("A run that writes the same again waits for you: `reflector review list`.")
    if done.rewritten_at:
        out.say(
            f"History was rewritten on {done.rewritten_at[:10]}, after that run: what was forgotten "
            "then is neither here nor in the commit."
        )
    out.object(
        {
            "run": done.run,
            "commit": done.commit,
            "paths": list(done.paths),
            "unwanted_lines": done.unwanted,
            "history_rewritten_at": done.rewritten_at or None,
        }
    )
    return 0
