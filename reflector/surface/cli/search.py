"""`reflector search`."""

from __future__ import annotations

import argparse

from reflector.runtime.recall import LIMIT, search
from reflector.runtime.wiring import context
from reflector.surface.cli.found import tell
from reflector.surface.cli.numbers import moment, positive
from reflector.surface.cli.output import Output

_KINDS = {"user": "user", "assistant": "assistant", "tool": "tool_call", "error": "error"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to look for and where."""
    parser.description = (
        "Search what was said and done in past conversations; what was hidden or forgotten is not"
        " found."
    )
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, in any language")
    parser.add_argument("--conversation", default="", metavar="ID", help="only in this one")
    parser.add_argument("--since", type=moment, metavar="TIME", help="said since: 2026-11-30, 7d")
    parser.add_argument("--kind", choices=_KINDS, help="only what such a one said or did")
    parser.add_argument(
        "--limit", type=positive, default=LIMIT, metavar="N", help="at most so many"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what is found; nothing found is no error."""
    results = search(
        context(args.home, args.identity),
        " ".join(args.query),
        conversation=args.conversation,
        kind=_KINDS.get(args.kind, ""),
        since=args.since or "",
        limit=args.limit,
        told=out.progress,
    )
    out.done()
    tell(out, results)
    return 0
