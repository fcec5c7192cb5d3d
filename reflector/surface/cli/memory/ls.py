"""`reflector memory ls`."""

from __future__ import annotations

import argparse

from reflector.core.redact import redact
from reflector.runtime.documents import listed
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add where to look."""
    parser.description = "List the documents on main, with what they are about."
    parser.add_argument("path", nargs="?", default="", metavar="PATH", help="only this folder")


def run(args: argparse.Namespace, out: Output) -> int:
    """List them."""
    revision, found = listed(context(args.home, args.identity), args.path)
    for each in found:
        about = redact(each.description).text if not each.problem else f"! {each.problem}"
        out.say(f"{safe(each.path)}  {out.style(safe(about), 'dim')}")
    out.object(
        {
            "revision": revision,
            "documents": [
                {
                    "path": each.path,
                    "description": redact(each.description).text,
                    "tokens": each.tokens,
                    "bytes": each.size,
                    "read_only": each.read_only,
                    "problem": each.problem or None,
                }
                for each in found
            ],
        }
    )
    return 0
