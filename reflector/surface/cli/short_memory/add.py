"""`reflector short-memory add`."""

from __future__ import annotations

import argparse

from reflector.memory.short_memory_edit import Add, new_entry
from reflector.runtime.short_memory import change
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.short_memory.where import add_scope, note_when_off, start


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the entry and the file."""
    parser.description = (
        "Add one entry of a MEMORY.md; every other byte of the file stays. For example: reflector "
        'short-memory add tabs "Indent with tabs"'
    )
    parser.add_argument("id", metavar="ID", help="its name: letters, digits, - and _, at most 64")
    parser.add_argument("text", metavar="TEXT", help="one fact, preference or constraint")
    add_scope(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Add the entry."""
    found = context(args.home, args.identity, make=True)
    wanted = Add(new_entry(args.id, args.text))
    path = change(found, args.scope, start(args), wanted)
    note_when_off(found, out)
    out.say(f"Added {args.id} to {safe(path)}")
    out.object({"path": path, "scope": args.scope, "id": args.id, "change": "added"})
    return 0
