"""`reflector memory delete`."""

from __future__ import annotations

import argparse

from reflector.memory.tools import delete
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to delete."""
    parser.description = (
        "Delete a document, or a folder with all that is in it; a protected document below it "
        "refuses all. History keeps what was there."
    )
    parser.add_argument("path", metavar="PATH", help="a document or a folder")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Delete it."""
    found = context(args.home, args.identity)
    path = relative(found, args.path)
    return given.tell(out, write(found, lambda tree: delete(tree, path), args.reason))
