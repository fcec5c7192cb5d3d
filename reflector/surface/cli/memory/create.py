"""`reflector memory create`."""

from __future__ import annotations

import argparse

from reflector.memory.tools import create
from reflector.runtime.documents import relative
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the document."""
    parser.description = (
        "Make a document. PATH is relative to the memory; .md is added if missing. A text that "
        "begins with a '---' header brings its own description."
    )
    parser.add_argument("path", metavar="PATH", help="where, such as reference/hosts.md")
    parser.add_argument("--description", default="", metavar="TEXT", help="what it is about")
    given.add_text(parser, "the text of the document")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Make it."""
    found = context(args.home, args.identity)
    text = given.text(args.text, args.file, "the text of the document")
    path = relative(found, args.path)
    done = write(found, lambda tree: create(tree, path, text, args.description), args.reason)
    return given.tell(out, done)
