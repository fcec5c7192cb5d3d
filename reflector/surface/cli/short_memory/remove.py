"""`reflector short-memory remove`."""

from __future__ import annotations

import argparse

from reflector.memory.short_memory_edit import Remove
from reflector.runtime.short_memory import change
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.short_memory.where import add_scope, start


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the entry and the file."""
    parser.description = "Remove one entry of a MEMORY.md; every other byte of the file stays."
    parser.add_argument("id", metavar="ID", help="the entry to remove")
    add_scope(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Remove the entry."""
    found = context(args.home, args.identity)
    path = change(found, args.scope, start(args), Remove(args.id))
    out.say(f"Removed {args.id} from {safe(path)}")
    out.object({"path": path, "scope": args.scope, "id": args.id, "change": "removed"})
    return 0
