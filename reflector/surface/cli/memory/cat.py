"""`reflector memory cat`."""

from __future__ import annotations

import argparse
import sys

from reflector.core.redact import redact
from reflector.memory.budget import estimate_tokens
from reflector.runtime.documents import shown
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add which document."""
    parser.description = "Print one document as main has it; what is not committed does not show."
    parser.add_argument("path", metavar="PATH", help="a document, such as system/human.md")


def run(args: argparse.Namespace, out: Output) -> int:
    """Print it."""
    found = shown(context(args.home, args.identity), args.path)
    text = redact(found.text).text
    # An agent reads the very text; on a terminal nothing in it may act.
    out.exact(
        "\n".join(safe(line) for line in text.expandtabs(4).split("\n"))
        if sys.stdout.isatty()
        else text
    )
    out.object(
        {
            "path": found.path,
            "revision": found.revision,
            "text": text,
            "tokens": estimate_tokens(text),
        }
    )
    return 0
