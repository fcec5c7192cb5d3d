"""`reflector resume`."""

from __future__ import annotations

import argparse

from reflector.core.ambient import instant, system
from reflector.runtime import hook_gate, pauses
from reflector.runtime.wiring import find_home
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""
    parser.description = "Go on recording. What was said while paused stays out for good."


def run(args: argparse.Namespace, out: Output) -> int:
    """End the pause, or say that there is none."""
    home = find_home(args.home)
    ended = pauses.resume(home, system())
    hook_gate.refresh_or_shut(home, args.home)
    if ended is None:
        out.say("Recording was not paused.")
    else:
        since = f"{instant(ended.since).astimezone():%Y-%m-%d %H:%M %Z}".rstrip()
        out.say(f"Recording goes on; what was said since {since} stays out.")
    out.object(
        {
            "recording": True,
            "paused_since": ended.since if ended else None,
            "paused_until": ended.until if ended else None,
        }
    )
    return 0
