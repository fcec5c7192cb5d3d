"""`reflector diary undo`."""

from __future__ import annotations

import argparse

from reflector.runtime.diary.guard import undo
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which change."""
    parser.description = (
        "Take back a change of the persona that nobody made by hand. It does not come again by "
        "itself; what you wrote yourself is never changed."
    )
    parser.add_argument(
        "commit", metavar="COMMIT", nargs="?", default="", help="which one, instead of the newest"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Take it back."""
    done = undo(context(args.home, args.identity), args.commit)
    out.say(f"The change {done.change[:12]} of the persona is undone.")
    out.object({"undone": done.change, "commit": done.commit})
    return 0
