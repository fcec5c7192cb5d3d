"""`reflector recall`."""

from __future__ import annotations

import argparse

from reflector.runtime.recall import LIMIT, recall
from reflector.runtime.wiring import context, context_for
from reflector.surface.cli.found import tell
from reflector.surface.cli.here import start
from reflector.surface.cli.numbers import moment, positive
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to look for and where."""
    parser.description = (
        "Search the committed memory; the documents that answer best come first. What belongs to a"
        " project is found from its own folders only."
    )
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, in any language")
    parser.add_argument("--cwd", metavar="DIR", help="the project's folder, instead of this one")
    parser.add_argument("--path", default="", metavar="PREFIX", help="only paths that begin so")
    parser.add_argument(
        "--since", type=moment, metavar="TIME", help="changed since: 2026-11-30, 7d"
    )
    parser.add_argument(
        "--limit", type=positive, default=LIMIT, metavar="N", help="at most so many"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what is found; nothing found is no error."""
    found = context(args.home, args.identity)
    here = start(args.cwd)
    if args.cwd is not None and args.identity is None:
        found = context_for(found, str(here or "/"))
    results = recall(
        found,
        " ".join(args.query),
        cwd=here,
        limit=args.limit,
        path=args.path,
        since=args.since or "",
        told=out.progress,
    )
    out.done()
    tell(out, results)
    return 0
