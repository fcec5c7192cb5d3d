"""`reflector diary skip`."""

from __future__ import annotations

import argparse

from reflector.runtime.diary.skipping import skip
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which conversation."""
    parser.description = (
        "Leave the present turn out of the diary: what was said in it is not read for it, not even "
        "as what a later turn refers to. The journal keeps it; `memory forget` removes it there."
    )
    parser.add_argument(
        "--conversation",
        default="",
        metavar="ID",
        help="which one, instead of the one that you spoke in last",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Leave it out."""
    done = skip(context(args.home, args.identity), args.conversation)
    out.say(f"Turn {done.turn} of {safe(done.conversation)} is not recorded in the diary.")
    out.object({"conversation": done.conversation, "turn": done.turn})
    return 0
