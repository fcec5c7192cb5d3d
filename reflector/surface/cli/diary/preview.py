"""`reflector diary preview`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from reflector.runtime.diary.preview import preview
from reflector.runtime.wiring import context, context_for
from reflector.surface.cli.here import start
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add for what, and the explanation."""
    parser.description = (
        "Print what a session would be shown of the diary now, letter for letter. What you edited "
        "in persona.md and NOTES.md is taken in first."
    )
    parser.add_argument("--query", default="", metavar="TEXT", help="what you would say first")
    parser.add_argument("--cwd", metavar="DIR", help="where the session starts, instead of here")
    parser.add_argument(
        "--explain", action="store_true", help="sizes, what was cut, and the parts' shares"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Print it."""
    found = context(args.home, args.identity)
    here = start(args.cwd)
    if args.cwd is not None and args.identity is None:
        found = context_for(found, str(here or "/"))
    shown = preview(found, here, args.query)
    if args.explain:
        out.say(*_table(shown.explained))
    else:
        out.exact(shown.text)
    out.object({"text": shown.text, "explain": dict(shown.explained) or None})
    return 0


def _table(explained: Mapping[str, Any]) -> Iterator[str]:
    if not explained:
        yield "The block has no room for the diary; raise prompt.budget_tokens."
        return
    yield f"{'section':<16}{'tokens':>8}{'floor':>8}{'ceiling':>9}{'cut':>6}"
    for name, each in explained["sections"].items():
        columns = f"{each['tokens']:>8}{each['floor']:>8}{each['ceiling']:>9}{each['cut']:>6}"
        yield f"{name:<16}{columns}"
    shares = ", ".join(f"{name} {percent} %" for name, percent in explained["shares"].items())
    yield (
        f"{explained['tokens']} tokens: the frame has {explained['frame_tokens']}, the rest may have "
        f"{explained['budget_tokens']} at most"
    )
    yield f"shares of what it says: {shares}"
