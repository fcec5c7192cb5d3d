"""`reflector memory insert`."""

from __future__ import annotations

import argparse

from reflector.memory.tools import insert
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to insert, and where."""
    parser.description = "Insert lines into a document; without --after at its end."
    parser.add_argument("path", metavar="PATH", help="a document")
    parser.add_argument(
        "--after", type=int, metavar="LINE", help="a line of the file; 0 is the top of the body"
    )
    given.add_text(parser, "the lines")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Insert them."""
    found = context(args.home, args.identity)
    text = given.text(args.text, args.file, "the lines")
    path = relative(found, args.path)
    done = write(found, lambda tree: insert(tree, path, text, args.after), args.reason)
    return given.tell(out, done)
