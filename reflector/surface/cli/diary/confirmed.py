"""One yes before something goes that cannot be brought back."""

from __future__ import annotations

import sys

from reflector.core.errors import UsageError
from reflector.surface.cli.output import Output


def confirmed(question: str, out: Output, *, yes: bool) -> bool:
    """Ask once on a terminal; raise UsageError where there is none and no `--yes`."""
    if yes:
        return True
    if out.json or not sys.stdin.isatty():
        raise UsageError(
            "Nothing is removed without a yes, and there is no terminal to ask on.",
            hint="`--yes` does it.",
        )
    out.note(f"{question} It cannot be taken back. [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
