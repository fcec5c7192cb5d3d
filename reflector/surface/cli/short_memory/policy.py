"""`reflector short-memory policy`."""

from __future__ import annotations

import argparse

from reflector.runtime.short_memory import candidates, policy
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.short_memory.where import add_cwd, note_when_off, start


def configure(parser: argparse.ArgumentParser) -> None:
    """Add where the session started."""
    parser.description = "Print the rules by which agents keep the MEMORY.md files, and the paths."
    add_cwd(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the whole policy."""
    found = context(args.home, args.identity)
    began = start(args)
    text = policy(found, began)
    paths = {one.scope: one.path for one in candidates(found, began)}
    note_when_off(found, out)
    out.say(*map(safe, text.rstrip("\n").split("\n")))
    out.object({"policy": text, "user": paths["user"], "project": paths.get("project")})
    return 0
