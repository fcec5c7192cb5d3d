"""What the commands of this group are given: a bank, or one JSON object on stdin."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from reflector.core.errors import UsageError

_MOST = 16 * 1024 * 1024


def add_bank(parser: argparse.ArgumentParser) -> None:
    """Add whose decisions."""
    parser.add_argument("--bank", metavar="BANK", help="the project, instead of the one here")


def here() -> Path | None:
    """Return the working directory; None when it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return None


def stdin_json() -> object:
    """Read one JSON value. Raises UsageError."""
    raw = sys.stdin.buffer.read(_MOST + 1)
    if len(raw) > _MOST:
        raise UsageError(f"stdin has more than {_MOST} bytes.", hint="Give a smaller object.")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"stdin is not JSON: {error}.", hint="Give one JSON object, in UTF-8."
        ) from error
