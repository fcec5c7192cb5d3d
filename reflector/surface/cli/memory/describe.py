"""`reflector memory describe`."""

from __future__ import annotations

import argparse

from reflector.memory.tools import update_description
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description."""
    parser.description = "Change what a document says it is about; nothing else of it changes."
    parser.add_argument("path", metavar="PATH", help="a document")
    given.add_text(parser, "the description, one line")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Change it."""
    found = context(args.home, args.identity)
    text = given.text(args.text, args.file, "the description").rstrip("\r\n")
    path = relative(found, args.path)
    done = write(found, lambda tree: update_description(tree, path, text), args.reason)
    return given.tell(out, done)
