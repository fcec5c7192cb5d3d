"""Where a session starts, as a command is told it."""

from __future__ import annotations

import os
from pathlib import Path


def start(chosen: str | None) -> Path | None:
    """Return where the session starts; None when it has no directory, or it was deleted."""
    if chosen == "":
        return None
    try:
        # Not resolved: a hook looks under the name that its harness gives it.
        return Path(os.path.abspath(chosen)) if chosen else Path.cwd()  # noqa: PTH100
    except OSError:
        return None
