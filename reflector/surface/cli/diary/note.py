"""`reflector diary note`."""

from __future__ import annotations

import argparse

from reflector.runtime.diary.notes import LONGEST, note
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the text."""
    parser.description = (
        "Leave a note for the next self: a judgement in a sentence or two, not a report of what "
        "happened. It is committed before this returns. Secrets are taken out, other people and "
        "exact numbers made general."
    )
    parser.add_argument(
        "text", metavar="TEXT", help=f"what to keep, at most {LONGEST} characters of it"
    )
    parser.add_argument(
        "--conversation", default="", metavar="ID", help="the conversation it comes from"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Keep it."""
    done = note(context(args.home, args.identity), args.text, conversation=args.conversation)
    how = f"Committed {done.commit[:12]}" if done.commit else "The diary says so already"
    out.say(how, f"  {safe(done.text)}")
    out.object({"id": done.id, "text": done.text, "commit": done.commit})
    return 0
