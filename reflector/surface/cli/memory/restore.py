"""`reflector memory restore`."""

from __future__ import annotations

import argparse

from reflector.runtime.restoring import restore
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what, and as of when."""
    parser.description = (
        "Bring a document back as it was, by one new commit. REV is a commit, a run id (as that "
        "run left it), or a date (the end of that day)."
    )
    parser.add_argument("place", metavar="PATH@REV", help="such as system/human.md@2026-11-30")


def run(args: argparse.Namespace, out: Output) -> int:
    """Restore it."""
    done = restore(context(args.home, args.identity), args.place)
    out.say(
        f"Restored {safe(done.path)} as of {done.revision[:12]} by commit {done.written.commit}"
    )
    out.object(
        {
            "path": done.path,
            "revision": done.revision,
            "commit": done.written.commit,
            "paths": list(done.written.paths),
        }
    )
    return 0
