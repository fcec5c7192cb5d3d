"""`reflector prompt`."""

from __future__ import annotations

import argparse

from reflector.runtime import block_cache
from reflector.runtime.compiled import compile_block
from reflector.runtime.wiring import context
from reflector.surface.cli.numbers import positive
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the budget and the explanation."""
    parser.add_argument(
        "--budget", type=positive, metavar="N", help="tokens, instead of the setting"
    )
    parser.add_argument("--explain", action="store_true", help="a table of sections and sizes")


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the block exactly as an agent would get it."""
    found = context(args.home, args.identity)
    revision, block = compile_block(found, args.budget)
    if args.budget is None:
        block_cache.save(found, revision, block.text)
    sections = [
        {
            "name": each.name,
            "tokens": each.tokens,
            "floor": each.floor,
            "ceiling": each.ceiling,
            "omitted": each.omitted,
        }
        for each in block.sections
    ]
    if args.explain:
        out.say(f"{'section':<22}{'tokens':>8}{'floor':>8}{'ceiling':>9}{'omitted':>9}")
        for each in block.sections:
            out.say(
                f"{each.name:<22}{each.tokens:>8}{each.floor:>8}{each.ceiling:>9}{each.omitted:>9}"
            )
        out.say(f"{'all':<22}{block.tokens:>8}   at {revision[:12]}")
    else:
        out.exact(block.text)
    out.object(
        {"revision": revision, "text": block.text, "tokens": block.tokens, "sections": sections}
    )
    return 0
