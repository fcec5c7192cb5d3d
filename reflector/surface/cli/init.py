"""`reflector init`."""

from __future__ import annotations

import argparse

from reflector.runtime import birth, block_cache, hook_gate
from reflector.runtime.wiring import context
from reflector.surface.cli.choice import add_choice, check, offer
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.pointers import aligned, where


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the answer to the question that is asked once."""
    parser.description = (
        "Make the identity's memory repository with seed documents. Safe to repeat; never "
        "overwrites anything."
    )
    add_choice(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Make the memory, or say that it is there."""
    found = context(args.home, args.identity, make=True)
    check(found, args.engine)
    born = birth.init(found)
    hook_gate.refresh(found)
    block_cache.refresh(found)
    place = safe(where(args))
    verb = "Made" if born.created else "Found"
    out.say(
        f"{verb} the memory of {out.style(found.agent.identity, 'bold')} at {born.repository}",
        "Next:",
        *aligned(
            (
                (f"reflector install{place}", "plugs it into the agent that you use"),
                (f"reflector reflect FILE{place}", "learns from one recorded session"),
            )
        ),
    )
    engine = offer(found, args.engine, out)
    out.object(
        {
            "identity": found.agent.identity,
            "home": str(found.home.path),
            "repository": str(born.repository),
            "head": born.head,
            "created": born.created,
            "engine": engine,
        }
    )
    return 0
