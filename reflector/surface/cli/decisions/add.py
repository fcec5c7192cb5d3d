"""`reflector decisions add`."""

from __future__ import annotations

import argparse

from reflector.core.decision import FILES, Kind
from reflector.pipelines.decisions.edits import SECTION
from reflector.runtime.decisions.bank import chosen
from reflector.runtime.decisions.by_hand import Given, add
from reflector.runtime.wiring import context
from reflector.surface.cli.decisions.given import add_bank, here
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the decision."""
    parser.description = (
        "Write a decision down at once, as one commit: what you say yourself needs no friction. It "
        "is one line that holds in general, without paths, line numbers and hashes."
    )
    parser.add_argument("statement", metavar="STATEMENT", help="what was decided, in one line")
    kinds = [kind.value for kind in Kind]
    parser.add_argument("--kind", required=True, choices=kinds, help="what kind of decision")
    parser.add_argument("--file", choices=FILES, help="which file, instead of the kind's own")
    parser.add_argument("--section", default=SECTION, metavar="NAME", help="under which heading")
    parser.add_argument(
        "--rejected", default="", metavar="TEXT", help="what it was decided against"
    )
    parser.add_argument("--because", default="", metavar="TEXT", help="the reason")
    add_bank(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Write it down."""
    given = Given(
        statement=args.statement,
        kind=Kind(args.kind),
        file=args.file,
        section=args.section,
        rejected=args.rejected,
        rationale=args.because,
    )
    bank = chosen(args.bank, here())
    done = add(context(args.home, args.identity), bank, given)
    out.say(f"Committed {done.commit[:12]}", f"  {safe(done.path)}")
    out.object({"bank": bank, "commit": done.commit, "path": done.path, "delta": done.delta})
    return 0
