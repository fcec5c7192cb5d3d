"""`reflector diary forget`."""

from __future__ import annotations

import argparse

from reflector.runtime.diary.forgetting import Forgotten, look, take_out
from reflector.runtime.wiring import context
from reflector.surface.cli.diary import searched
from reflector.surface.cli.diary.confirmed import confirmed
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what goes."""
    parser.description = (
        "Take an entry or a trait out by its id, or everything that says a text: out of the diary, "
        "its whole history, and every copy that Reflector made. `diary read --json` shows the ids. "
        "A tombstone without a word stays, so that no pack and no old session brings it back."
    )
    parser.add_argument("what", metavar="ID|TEXT", help="what to forget")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace, out: Output) -> int:
    """Ask, take it out, look for it."""
    found = context(args.home, args.identity)
    # A short word stands in more than one means: how much goes is said before it goes.
    count = counted(len(look(found, args.what)), "item")
    question = f"Take {count} that the diary holds, and what it held, out of it and its history?"
    if not confirmed(question, out, yes=args.yes):
        out.say("Nothing was changed.")
        return 0
    done = take_out(found, args.what)
    _tell(done, out)
    out.object(
        {
            "forgotten": list(done.ids),
            "rewritten": done.rewritten,
            "your_pages": list(done.pages),
            "say_the_same": list(done.twins),
            "searched": searched.as_json(done.searched),
        }
    )
    return 1 if done.searched.still else 0


def _tell(done: Forgotten, out: Output) -> None:
    out.say(
        f"{counted(len(done.ids), 'item')} forgotten; {counted(done.rewritten, 'commit')} rewritten.",
        *searched.lines(done.searched),
    )
    for page in done.pages:
        out.say(f"{safe(page)} is your own page and still says it; edit it, then do this again.")
    if done.twins:
        same = "1 other item says" if len(done.twins) == 1 else f"{len(done.twins)} others say"
        out.say(f"{same} the same and stayed: `reflector diary forget` with those words takes all.")
