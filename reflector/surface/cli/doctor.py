"""`reflector doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from reflector.runtime.doctor import Check, doctor
from reflector.runtime.preflight import preflight
from reflector.runtime.repair import repair
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the repair."""
    parser.add_argument("--fix", action="store_true", help="repair what is provably safe first")
    parser.add_argument(
        "--engine",
        metavar="NAME",
        choices=["rules", "anthropic", "command"],
        help="ask its model one word, or find its agent CLI",
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Print every check; exit 1 if one of them failed."""
    found = context(args.home, args.identity)
    fixed = repair(found) if args.fix else []
    for sentence in fixed:
        out.say(f"{out.style('fixed  ', 'green')}  {safe(sentence)}")
    checks = doctor(found)
    if args.engine:
        checks.append(preflight(found, args.engine))
    _show(checks, out)
    ok = all(each.ok for each in checks)
    out.object({"ok": ok, "fixed": fixed, "checks": [each.as_json() for each in checks]})
    return 0 if ok else 1


def _show(checks: Sequence[Check], out: Output) -> None:
    """Print a line for each. What is wrong stands in the way of several checks, and is said once."""
    said: set[tuple[str, str]] = set()
    for each in checks:
        if not each.ok and (each.message, each.hint) in said:
            continue
        out.say(f"{_mark(each, out)}  {safe(each.message)}")
        if not each.ok:
            said.add((each.message, each.hint))
            if each.hint:
                out.say(f"         {safe(each.hint)}")


def _mark(each: Check, out: Output) -> str:
    """Return the first word of a line. Padded before it is coloured: colours have a length too."""
    if not each.ok:
        return out.style("trouble", "red")
    return out.style("note   ", "dim") if each.name == "limits" else out.style("ok     ", "green")
