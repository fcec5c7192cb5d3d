"""Where the cached block of a place lies, for those that only read it."""

from __future__ import annotations

import os
from pathlib import Path

from reflector.runtime.wiring import Context

_LONGEST_NAME = 200


def place(context: Context, start: Path | None) -> Path:
    """Return the file of a block; the hook finds it by the same rule, and reads its `cwd` line."""
    if start is None:
        return context.agent.path / "block"
    name = str(start).replace("%", "%25").replace("/", "%2F")
    raw = os.fsencode(name)
    if len(raw) > _LONGEST_NAME:
        raw = raw[: _LONGEST_NAME // 2] + raw[-_LONGEST_NAME // 2 :]
    return context.agent.path / "blocks" / os.fsdecode(raw)
