"""`reflector decisions banks`."""

from __future__ import annotations

import argparse

from reflector.runtime.banks import bank_of
from reflector.runtime.decisions.bank import banks
from reflector.runtime.wiring import context
from reflector.surface.cli.decisions.given import here
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    parser.description = (
        "The projects that have decisions. All worktrees, subfolders and clones of a repository are"
        " one; a folder of the same name elsewhere is another."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """List them, the one here marked."""
    found = banks(context(args.home, args.identity))
    mine = bank_of(here())
    for each in found:
        mark = "*" if each.name == mine else " "
        counts = f"{counted(each.bullets, 'decision')}, {each.waiting} waiting"
        queued = f", {counted(each.queued, 'message')} to extract from" if each.queued else ""
        out.say(f"{mark} {safe(each.name)}  {counts}{queued}")
    if mine not in {each.name for each in found}:
        out.say(
            f"The project here would be {safe(mine)}; it has none yet."
            if mine
            else "This folder belongs to no project."
        )
    out.object(
        {
            "here": mine or None,
            "banks": [
                {
                    "bank": each.name,
                    "bullets": each.bullets,
                    "waiting": each.waiting,
                    "queued": each.queued,
                }
                for each in found
            ],
        }
    )
    return 0
