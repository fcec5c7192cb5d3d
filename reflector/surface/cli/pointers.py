"""How a run ended, and the commands that go on from there, ready to be copied."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from reflector.core.run import Outcome, Run

STOPPED, NOT_STARTED = "stopped", "not started"


def outcome(run: Run) -> str:
    """Say how a run ended, or how far it is. What was only stopped does not read like a failure."""
    end = run.settlement
    if end is None:
        return run.phase.value
    if end.outcome is Outcome.CANCELLED:
        return STOPPED if end.reason else NOT_STARTED
    return end.outcome.value


def ended(run: Run) -> str:
    """Say how a run ended and why, or how far it is."""
    end, said = run.settlement, outcome(run)
    why = end.reason.value if end and end.reason and said != STOPPED else ""
    return f"{said} ({why})" if why else said


def where(args: argparse.Namespace) -> str:
    """Repeat the flags that say where."""
    given = (("--home", args.home), ("--identity", args.identity))
    return "".join(f" {flag} {shlex.quote(value)}" for flag, value in given if value)


def aligned(rows: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return a line for each command and what it does, the second in one column."""
    width = max(len(command) for command, _ in rows)
    return tuple(f"  {command:<{width}}   {does}".rstrip() for command, does in rows)


def waits_for_you(run: Run, place: str) -> tuple[str, ...]:
    """Return the lines that say how a person decides on a run that waits."""
    rows = (
        (f"reflector review show {run.id}{place}", "what it would change, and why it waits"),
        (f"reflector review approve {run.id}{place}", "merge it"),
        (f"reflector review reject {run.id}{place}", "drop it; its lines are not written again"),
    )
    return ("", "It waits for you:", *aligned(rows))
