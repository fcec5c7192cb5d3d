"""`reflector pause`."""

from __future__ import annotations

import argparse
import re
from datetime import timedelta

from reflector.core.ambient import instant, system
from reflector.runtime import hook_gate, pauses
from reflector.runtime.wiring import find_home
from reflector.surface.cli.output import Output

_PART = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = timedelta(days=3660)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add how long."""
    parser.description = (
        "Stop recording, for every identity of the home. What is said until then is not recorded "
        "later either. Without --for: until `reflector resume`."
    )
    parser.add_argument(
        "--for", dest="lasting", type=_duration, metavar="TIME", help="30m, 2h, 1d, 1h30m"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Pause recording and say until when."""
    home = find_home(args.home)
    made = pauses.pause(home, system(), args.lasting)
    hook_gate.refresh_or_shut(home, args.home)
    out.say(
        f"Recording is paused {until(made.until)}; nothing that is said in this time is kept.",
        "`reflector resume` goes on recording.",
    )
    out.object({"recording": False, "paused_since": made.since, "paused_until": made.until or None})
    return 0


def until(moment: str) -> str:
    """Say until when, in the zone of the person who asks."""
    if not moment:
        return "until you resume it"
    return f"until {instant(moment).astimezone():%Y-%m-%d %H:%M %Z}".rstrip()


def _duration(text: str) -> timedelta:
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no time like 30m, 2h, 1d or 1h30m")
    total = sum((timedelta(**{_UNITS[unit]: int(n)}) for n, unit in parts), timedelta())
    if not timedelta() < total <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not between 1s and ten years")
    return total
