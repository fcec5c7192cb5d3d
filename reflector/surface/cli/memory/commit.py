"""`reflector memory commit`."""

from __future__ import annotations

import argparse

from reflector.runtime.adoption import commit
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add why."""
    parser.description = (
        "Commit what you edited by hand. The files stay as they are; what fails the lint stays "
        "uncommitted and is named."
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="the subject of the commit")


def run(args: argparse.Namespace, out: Output) -> int:
    """Commit the hand edits that pass the lint; 1 when one does not."""
    done = commit(context(args.home, args.identity), args.reason)
    if done.commit:
        out.say(f"Committed {done.commit[:12]}", *(f"  {safe(path)}" for path in done.paths))
    elif not done.left:
        out.say("Nothing was edited.")
    for each in done.left:
        out.say(f"{out.style('left', 'yellow')}  {safe(f'{each.path}:{each.line} {each.message}')}")
    if done.left:
        out.say("  Mend it and commit again; `reflector memory lint --worktree` names every fault.")
    out.object(
        {
            "commit": done.commit,
            "paths": list(done.paths),
            "left": [each.as_json() for each in done.left],
        }
    )
    return 1 if any(each.severity == "error" for each in done.left) else 0
