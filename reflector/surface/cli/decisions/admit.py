"""`reflector decisions admit`."""

from __future__ import annotations

import argparse

from reflector.pipelines.decisions.machine import admitted
from reflector.surface.cli.decisions.given import stdin_json
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what it reads; it takes no arguments of its own."""
    parser.description = (
        'Judge candidates as extraction does: stdin holds {"prompt", "candidates": [...]}. Nothing '
        "is stored."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Judge them."""
    del args
    found = admitted(stdin_json())
    for one in found.deltas:
        out.say(
            f"{out.style('admitted', 'green')}  {one.kind.value}: {safe(one.statement)}",
            f"    {safe(one.evidence)}",
        )
    for refused in found.rejected:
        out.say(f"{out.style('rejected', 'yellow')}  candidate {refused.index}: {refused.reason}")
    rejected = len(found.rejected)
    out.say(f"{counted(len(found.deltas), 'candidate')} admitted, {rejected} rejected.")
    out.object(
        {
            "admitted": [one.as_json() for one in found.deltas],
            "rejected": [one.as_json() for one in found.rejected],
        }
    )
    return 0
