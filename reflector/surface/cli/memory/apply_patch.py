"""`reflector memory apply-patch`."""

from __future__ import annotations

import argparse

from reflector.memory.patch import apply_patch
from reflector.runtime.wiring import context
from reflector.runtime.writing import write
from reflector.surface.cli.memory import given
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the patch."""
    parser.description = (
        "Change several documents, all or nothing. The patch is a unified diff, or an envelope: "
        "'*** Begin Patch', then for each file '*** Add File: PATH', '*** Update File: PATH' (with "
        "'*** Move to: PATH' if it moves) or '*** Delete File: PATH' and its lines, each with ' ', "
        "'-' or '+' before it and '@@' between hunks, then '*** End Patch'."
    )
    given.add_text(parser, "the patch")
    given.add_reason(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Apply it."""
    text = given.text(args.text, args.file, "the patch")
    found = context(args.home, args.identity)
    return given.tell(out, write(found, lambda tree: apply_patch(tree, text), args.reason))
