"""`reflector diary tidy`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from reflector.runtime.diary.tidying import Tidied, apply, look
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add whether it is done."""
    parser.description = (
        "Put old records right: words for time go, rules of conduct are filed as such, what is there "
        "twice becomes one, and titles and figures of speech leave the shared phrases. Shows what "
        "would change, each with its reason; a second time changes nothing."
    )
    parser.add_argument(
        "--apply", action="store_true", help="do it, by one commit; a ref keeps what was before"
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Show what would change, or change it."""
    found = context(args.home, args.identity)
    done = apply(found) if args.apply else look(found)
    _tell(done, out)
    out.object(
        {
            "changes": [asdict(change) for change in done.changes],
            "commit": done.commit or None,
            "kept_ref": done.kept or None,
        }
    )
    return 0


def _tell(done: Tidied, out: Output) -> None:
    if not done.changes:
        out.say("The diary is tidy.")
        return
    rule = ""
    for change in sorted(done.changes, key=lambda change: change.rule):
        if change.rule != rule:
            rule = change.rule
            out.say(f"{out.style(rule, 'bold')}: {change.reason}")
        out.say(f"  {safe(change.path)}", f"    - {safe(change.before)}")
        out.say(f"    + {safe(change.after)}" if change.after else "    goes")
    if done.commit:
        out.say(f"Committed {done.commit[:12]}; {done.kept} is the diary as it was")
    elif not done.kept:
        out.say(f"{counted(len(done.changes), 'change')}; `--apply` makes them")
