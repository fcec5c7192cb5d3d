"""`reflector memory rename`."""

from __future__ import annotations

import argparse

from reflector.memory.tools import rename
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the old name and the new one."""
    parser.description = (
        "Rename a document or a folder. Links that then point nowhere are named, not changed."
    )
    parser.add_argument("path", metavar="PATH", help="a document or a folder")
    parser.add_argument("to", metavar="NEW", help="its new path")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Rename it."""
    found = context(args.home, args.identity)
    path, to = relative(found, args.path), relative(found, args.to)
    return given.tell(out, write(found, lambda tree: rename(tree, path, to), args.reason))
