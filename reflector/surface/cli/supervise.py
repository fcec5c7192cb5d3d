"""`reflector supervise`."""

from __future__ import annotations

import argparse

from reflector.runtime.daemon import Daemon
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe
from reflector.surface.cli.stop import stoppable
from reflector.surface.cli.streams import flush


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the single round."""
    parser.description = (
        "Work for all identities of the home until told to stop (SIGTERM, Ctrl-C): what hooks "
        "spooled, overdue work, idle dreams, hourly sweeps, retention. Optional: hooks start a "
        "short-lived supervisor by themselves."
    )
    parser.add_argument("--once", action="store_true", help="one round, then end")


def run(args: argparse.Namespace, out: Output) -> int:
    """Be the long-lived supervisor. Being told to stop is its ordinary end."""
    found = context(args.home, args.identity)
    found.home.create()

    def say(line: str) -> None:
        out.say(safe(line))
        flush()  # whoever keeps its log reads it while it runs

    with stoppable() as stop:
        Daemon(found, stop, say).run(once=args.once)
    out.object({"stopped": stop()})
    return 0
