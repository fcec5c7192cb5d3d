"""`reflector diary burn`."""

from __future__ import annotations

import argparse

from reflector.runtime.diary.burning import Burned, burn, look
from reflector.runtime.wiring import context
from reflector.surface.cli.diary import searched
from reflector.surface.cli.diary.confirmed import confirmed
from reflector.surface.cli.diary.sizes import sizes
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the yes."""
    parser.description = (
        "Remove everything that the diary says and ever said, with its history and every copy that "
        "Reflector made, then look for it in every byte of the home. Persona and notes are again "
        "those of a new diary; of each item a tombstone without a word stays. Packs that you "
        "exported are yours and stay."
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace, out: Output) -> int:
    """Ask once, burn it, look for it."""
    found = context(args.home, args.identity)
    there = look(found)
    what = sizes(len(there.entries), len(there.traits), len(there.lexicon))
    if not confirmed(f"Burn the whole diary ({what}) with its history?", out, yes=args.yes):
        out.say("Nothing was changed.")
        return 0
    done = burn(found)
    _tell(done, out)
    out.object(
        {
            "burned": {"entries": done.entries, "traits": done.traits, "terms": done.terms},
            "searched": searched.as_json(done.searched),
            "out_of_reach": list(done.out_of_reach),
        }
    )
    return 1 if done.searched.still else 0


def _tell(done: Burned, out: Output) -> None:
    out.say(
        f"Burned the diary: {sizes(done.entries, done.traits, done.terms)}.",
        *searched.lines(done.searched),
        "Out of reach:",
        *(f"  {safe(each)}" for each in done.out_of_reach),
    )
