"""`reflector memory lint`."""

from __future__ import annotations

import argparse
from pathlib import Path

from reflector.memory.finding import Finding
from reflector.runtime import commit_check
from reflector.runtime.lint import Side, lint
from reflector.runtime.wiring import Context, context
from reflector.surface.cli.output import Output, counted, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what to look at, and the check before commits."""
    parser.description = (
        "Check documents against every rule: exit 1 on errors, 0 with warnings only. Without an "
        "option the last commit is checked."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="documents or folders: only these")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--staged", action="store_true", help="what is staged for the next commit")
    side.add_argument("--worktree", action="store_true", help="the files as they lie on disk")
    side.add_argument(
        "--install-check", action="store_true", help="check whatever you commit there by hand"
    )
    side.add_argument("--remove-check", action="store_true", help="commit without that again")
    # For the check itself: git commits `commit FILE` from an index of its own.
    parser.add_argument("--index", metavar="FILE", help=argparse.SUPPRESS)


def run(args: argparse.Namespace, out: Output) -> int:
    """Print what is wrong, one line each, or set the check up."""
    found = context(args.home, args.identity)
    if args.install_check or args.remove_check:
        return _check(found, out, install=args.install_check)
    side: Side = "staged" if args.staged else "worktree" if args.worktree else "committed"
    index = Path(args.index).absolute() if args.index else None
    findings = lint(found, side, args.paths, index)
    for each in findings:
        out.say(_line(each, out))
    errors = sum(each.severity == "error" for each in findings)
    out.say(_summary(errors, len(findings) - errors))
    out.object({"findings": [each.as_json() for each in findings]})
    return 1 if errors else 0


def _check(found: Context, out: Output, *, install: bool) -> int:
    done = commit_check.install(found) if install else commit_check.remove(found)
    if install:
        out.say(
            f"Commits by hand are checked ({safe(str(done.hook))})."
            if done.changed
            else "The check was there already.",
            f"  {commit_check.OVERRIDE}   commits without it, once",
        )
    else:
        out.say("Commits by hand are not checked." if done.changed else "There was no check.")
    out.object({"hook": str(done.hook), "installed": install, "changed": done.changed})
    return 0


def _line(finding: Finding, out: Output) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    code = out.style(finding.code, "red" if finding.severity == "error" else "yellow")
    return f"{safe(place)} {code} {safe(finding.message)}"


def _summary(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "Nothing is wrong."
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
