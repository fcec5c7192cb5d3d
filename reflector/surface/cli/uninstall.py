"""`reflector uninstall`."""

from __future__ import annotations

import argparse

from reflector.core.errors import UsageError
from reflector.harness.installs.recipes import RECIPES
from reflector.runtime import installing
from reflector.runtime.harnesses import BY_HAND, changed_by_hand
from reflector.runtime.installing import Wish
from reflector.runtime.wiring import context
from reflector.surface.cli.install import machine, show_backups, show_diff
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the harness and how."""
    parser.description = (
        "Take out of a harness exactly what `install` put there, wherever it was recorded and in "
        "the usual places. The memory and the journal stay."
    )
    add = parser.add_argument
    add("harness", nargs="?", metavar="HARNESS", help=", ".join(RECIPES))
    add("--scope", choices=["user", "project"], default=None, help="only there; else everywhere")
    add("--dry-run", action="store_true", help="show what would change, and change nothing")


def run(args: argparse.Namespace, out: Output) -> int:
    """Take our entries out."""
    if not args.harness:
        raise UsageError(
            "Say which harness to uninstall from.", hint="`reflector install` lists where it is."
        )
    found = context(args.home, args.identity, make=not args.dry_run)
    plan = installing.plan_uninstall(found, Wish(args.harness, args.scope))
    if args.dry_run:
        return show_diff(plan, out)
    backups = installing.apply(found, plan)
    places = [str(each.found.path) for each in plan.changes if each.new is not None]
    left = [said for path in places if (said := changed_by_hand(plan.recipe, path))]
    if plan.changes:
        out.say(f"Removed from {out.style(plan.recipe.title, 'bold')}:")
        out.say(*(f"  {safe(str(each.found.path))}" for each in plan.changes))
        show_backups(backups, out)
        out.say(*(f"  {safe(each)} {BY_HAND}" for each in left))
        out.say(f"The memory stays: {found.home.path}")
    else:
        out.say(f"Nothing to do: Reflector is not installed in {plan.recipe.title}.")
    out.object({**machine(plan, backups), "left": left})
    return 0
