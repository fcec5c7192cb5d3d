"""`reflector init`."""

from __future__ import annotations

import argparse

from reflector.runtime import birth, block_cache, hook_gate
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    parser.description = (
        "Make the identity's memory repository with seed documents. Safe to repeat; never "
        "overwrites anything."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Make the memory, or say that it is there."""
    found = context(args.home, args.identity)
    born = birth.init(found)
    hook_gate.refresh(found)
    block_cache.refresh(found)
    verb = "Made" if born.created else "Found"
    out.say(
        f"{verb} the memory of {out.style(found.agent.identity, 'bold')} at {born.repository}",
        "Next: reflector reflect FILE   (a transcript of Claude Code, Codex, or generic JSONL)",
    )
    out.object(
        {
            "identity": found.agent.identity,
            "home": str(found.home.path),
            "repository": str(born.repository),
            "head": born.head,
            "created": born.created,
        }
    )
    return 0
