"""`reflector install`."""

from __future__ import annotations

import argparse
from pathlib import Path

from reflector.harness.installs.recipes import RECIPES
from reflector.runtime import birth, block_cache, harnesses, hook_gate, installing
from reflector.runtime.banks import bank_of
from reflector.runtime.foreign_files import difference
from reflector.runtime.installing import Plan, Wish
from reflector.runtime.wiring import Context, context
from reflector.surface.cli.choice import add_choice, check, offer
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the harness and how."""
    parser.description = (
        "Put Reflector's hooks into a harness, and one rule that lets its agent read the memory "
        "without asking. Entries of others stay as they are, to the byte; a backup is kept. "
        "Without HARNESS: what is on this machine, and what is installed."
    )
    add = parser.add_argument
    add("harness", nargs="?", metavar="HARNESS", help=", ".join(RECIPES))
    add("--scope", choices=["user", "project"], default="user", help="for you, or for this project")
    add("--dry-run", action="store_true", help="show what would change, and change nothing")
    add("--no-permission", action="store_true", help="leave the rule for reading out")
    add("--force", action="store_true", help="although it is there in another way already")
    add_choice(parser)


def run(args: argparse.Namespace, out: Output) -> int:
    """Install, or say what is there."""
    found = context(args.home, args.identity, make=bool(args.harness) and not args.dry_run)
    if not args.harness:
        return _list(found, out)
    wish = Wish(args.harness, args.scope, not args.no_permission, args.force)
    plan = installing.plan_install(found, wish)
    if args.dry_run:
        return show_diff(plan, out)
    check(found, args.engine)
    birth.init(found)
    hook_gate.refresh(found)
    block_cache.refresh(found)
    backups = installing.apply(found, plan)
    steps = _next(plan, args.scope)
    _said(plan, backups, steps, out)
    identity, bank = found.agent.identity, bank_of(Path.cwd())
    out.say(f"Memory here: {safe(identity)}" + (f", project {safe(bank)}." if bank else "."))
    engine = offer(found, args.engine, out)
    out.object(
        {
            **machine(plan, backups),
            "identity": identity,
            "bank": bank,
            "scope": args.scope,
            "events": list(plan.recipe.events),
            "permission": wish.permission,
            "next": steps,
            "engine": engine,
        }
    )
    return 0


def machine(plan: Plan, backups: tuple[Path, ...]) -> dict[str, object]:
    """Return what install and uninstall say alike."""
    return {
        "harness": plan.recipe.name,
        "changed": [str(each.found.path) for each in plan.changes],
        "files": list(plan.places),
        "backups": [str(each) for each in backups],
    }


def show_diff(plan: Plan, out: Output) -> int:
    """Print what a plan would change."""
    text = difference(plan.changes)
    for line in text.splitlines():
        out.say("\t".join(map(safe, line.split("\t"))))
    if not plan.changes:
        out.say(f"Nothing to do for {plan.recipe.title}.")
    out.object({**machine(plan, ()), "diff": text, "dry_run": True})
    return 0


def show_backups(backups: tuple[Path, ...], out: Output) -> None:
    """Say where the old files are."""
    out.say(*(f"  backup {safe(str(each))}" for each in backups))


def _next(plan: Plan, scope: str) -> list[str]:
    steps = list(plan.recipe.says)
    if scope == "project":
        steps.append("What was written names a path of this machine: keep it out of your commits.")
    return steps


def _said(plan: Plan, backups: tuple[Path, ...], steps: list[str], out: Output) -> None:
    if not plan.changes:
        out.say(f"Nothing to do: Reflector is installed in {plan.recipe.title}.")
        return
    events = counted(len(plan.recipe.events), "event")
    out.say(f"Installed in {out.style(plan.recipe.title, 'bold')}, {events}:")
    out.say(*(f"  {safe(str(each.found.path))}" for each in plan.changes))
    show_backups(backups, out)
    out.say(*(f"Next: {each}" for each in steps))


def _list(found: Context, out: Output) -> int:
    rows = harnesses.listed(found)
    for each in rows:
        where = ", ".join(safe(path) for path in each.files)
        state = "installed" if each.files else "found" if each.found else "not on this machine"
        out.say(f"{each.harness:<12} {state:<20} {where}".rstrip())
    out.say("", "`reflector install HARNESS` installs, with --dry-run it shows what that changes.")
    out.object({"harnesses": [each.as_json() for each in rows]})
    return 0
