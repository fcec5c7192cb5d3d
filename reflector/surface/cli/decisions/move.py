"""`reflector decisions move`."""

from __future__ import annotations

import argparse

from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.whole_bank import move
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add from where to where."""
    parser.description = (
        "Merge a bank into another, files and ledger: for a project whose folder or remote changed. "
        "Decisions that are there already are not doubled."
    )
    parser.add_argument("bank", metavar="BANK", help="the bank that ends")
    parser.add_argument("to", metavar="TO", help="the bank that takes it in")


def run(args: argparse.Namespace, out: Output) -> int:
    """Merge two banks."""
    bank, to = chosen(args.bank, None), chosen(args.to, None)
    done = move(context(args.home, args.identity), bank, to)
    how = f"commit {done.commit[:12]}" if done.commit else "its files held none; the ledger moved"
    out.say(f"{safe(bank)} is {safe(to)} now: {how}", *(f"  {safe(path)}" for path in done.paths))
    out.object({"bank": bank, "to": to, "commit": done.commit or None, "paths": list(done.paths)})
    return 0
