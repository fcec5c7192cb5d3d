"""`reflector memory replace`."""

from __future__ import annotations

import argparse

from reflector.core.errors import UsageError
from reflector.memory.tools import str_replace
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to replace by what."""
    parser.description = (
        "Replace one place in a document. The old text must be there exactly once, else the number "
        "of places and the nearest lines are shown."
    )
    parser.add_argument("path", metavar="PATH", help="a document")
    for which in ("old", "new"):
        given.add_text(parser, f"the {which} text", f"--{which}", f"--{which}-file")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Replace it."""
    found = context(args.home, args.identity)
    if [args.old, args.old_file, args.new, args.new_file].count("-") > 1:
        raise UsageError("Only one text can come from stdin.", hint="Give the other by a file.")
    old = given.text(args.old, args.old_file, "the old text")
    new = given.text(args.new, args.new_file, "the new text")
    path = relative(found, args.path)
    done = write(found, lambda tree: str_replace(tree, path, old, new), args.reason)
    return given.tell(out, done)
