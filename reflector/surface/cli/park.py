"""`reflector park`."""

from __future__ import annotations

import argparse

from reflector.runtime.parking import clear, shown
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to do."""
    parser.description = (
        "The circuit breaker: after repeated failures automatic runs stop, and one probe is tried "
        "every six hours. Manual runs always pass, and their success clears it."
    )
    parser.add_argument("action", nargs="?", choices=["show", "clear"], default="show")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show the circuit breaker, or close it again."""
    found = context(args.home, args.identity)
    if args.action == "clear":
        clear(found)
    state = shown(found)
    if not state["parked"]:
        out.say(f"Automatic runs start ({counted(state['streak'], 'failure')} in a row).")
    else:
        out.say(
            f"Parked since {state['since']} after {counted(state['streak'], 'failure')}: "
            f"{safe(str(state['reason']))}",
            f"  next probe: {state['next_probe_at']}",
            "  reflector park clear   lets automatic runs start again",
        )
    out.object({"park": state})
    return 0
