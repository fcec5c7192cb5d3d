"""`reflector memory tokens`."""

from __future__ import annotations

import argparse

from reflector.runtime.documents import listed
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add where to look."""
    parser.description = (
        "What each document takes, in estimated tokens. Documents under system/ are in every "
        "conversation; of the others only path and description are."
    )
    parser.add_argument("path", nargs="?", default="", metavar="PATH", help="only this folder")


def run(args: argparse.Namespace, out: Output) -> int:
    """Count."""
    context_ = context(args.home, args.identity)
    revision, found = listed(context_, args.path)
    budget = context_.settings.number("prompt.budget_tokens")
    system = sum(each.tokens for each in found if each.in_context)
    total = sum(each.tokens for each in found)
    for each in sorted(found, key=lambda one: (not one.in_context, -one.tokens)):
        out.say(f"{each.tokens:>8}  {'*' if each.in_context else ' '} {safe(each.path)}")
    out.say(f"{total:>8}    all; * in every conversation: {system} (budget {budget})")
    out.object(
        {
            "revision": revision,
            "documents": [
                {"path": each.path, "tokens": each.tokens, "in_context": each.in_context}
                for each in found
            ],
            "total": total,
            "system_tokens": system,
            "budget_tokens": budget,
        }
    )
    return 0
