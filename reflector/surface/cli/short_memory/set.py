"""`reflector short-memory set`."""

from __future__ import annotations

import argparse

from reflector.memory.short_memory_edit import Put, new_entry
from reflector.runtime.short_memory import change
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.short_memory.where import add_scope, note_when_off, start


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the entry and the file."""
    parser.description = "Change one entry of a MEMORY.md; every other byte of the file stays."
    parser.add_argument("id", metavar="ID", help="letters, digits, - and _, at most 64")
    parser.add_argument("text", metavar="TEXT", help="one fact, preference or constraint")
    add_scope(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Change the entry."""
    found = context(args.home, args.identity, make=True)
    wanted = Put(new_entry(args.id, args.text))
    path = change(found, args.scope, start(args), wanted)
    note_when_off(found, out)
    out.say(f"Changed {args.id} in {safe(path)}")
    out.object({"path": path, "scope": args.scope, "id": args.id, "change": "changed"})
    return 0
