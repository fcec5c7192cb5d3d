"""`reflector decisions envelope`."""

from __future__ import annotations

import argparse

from reflector.pipelines.decisions.machine import enveloped
from reflector.surface.cli.decisions.given import stdin_json
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what it reads; it takes no arguments of its own."""
    parser.description = (
        'Show what extraction reads of a message: stdin holds {"messages": [{"role", "content"}], '
        '"current"}, current being an index or null for the last user message.'
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Show it."""
    del args
    found = enveloped(stdin_json())
    told = found.as_json() if found else {}
    if not found:
        out.say("Nothing is read: that message is no text of a user.")
    for name, text in told.items():
        out.say(f"{out.style(name, 'bold')}", *(f"    {safe(line)}" for line in text.split("\n")))
    out.object(told or None)
    return 0
