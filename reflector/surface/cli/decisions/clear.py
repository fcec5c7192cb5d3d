"""`reflector decisions clear`."""

from __future__ import annotations

import argparse

from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.whole_bank import clear
from reflector.runtime.wiring import context
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which project."""
    parser.description = (
        "Remove all decisions of this project by one commit, which can be taken back with "
        "`reflector memory restore`. What waited does not bring them back; what is said later may."
    )
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Clear a bank."""
    bank = chosen(args.bank, here())
    done = clear(context(args.home, args.identity), bank)
    how = f"Committed {done.commit[:12]}" if done.commit else "Its files held none"
    out.say(how, *(f"  {safe(path)} removed" for path in done.paths))
    if done.waited:
        out.say(f"  {counted(done.waited, 'delta')} that waited will not enter any more")
    out.object(
        {
            "bank": bank,
            "commit": done.commit or None,
            "paths": list(done.paths),
            "waited": done.waited,
        }
    )
    return 0
