"""pi: an extension file."""

from __future__ import annotations

from pathlib import PurePosixPath

from reflector.harness.installs.recipe import Asked, Recipe, Target
from reflector.harness.installs.scripts import script


def _config(asked: Asked) -> PurePosixPath:
    return asked.folder("PI_CODING_AGENT_DIR", ".pi/agent")


def _targets(asked: Asked) -> tuple[Target, ...]:
    folder = _config(asked) if asked.scope == "user" else asked.project / ".pi"
    part = script("pi", "pi.ts", asked.launcher)
    return (Target(folder / "extensions" / "reflector.ts", part),)


PI = Recipe(
    "pi",
    "pi",
    "pi",
    (
        "session_start",
        "before_agent_start",
        "agent_end",
        "session_before_compact",
        "session_shutdown",
    ),
    _config,
    _targets,
    ("pi reads its extensions when it starts: start it anew, or type /reload.",),
)
