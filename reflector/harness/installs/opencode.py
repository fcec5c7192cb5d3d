"""OpenCode: a plugin file."""

from __future__ import annotations

from pathlib import PurePosixPath

from reflector.harness.installs.recipe import Asked, Recipe, Target
from reflector.harness.installs.scripts import script


def _config(asked: Asked) -> PurePosixPath:
    return asked.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _targets(asked: Asked) -> tuple[Target, ...]:
    folder = _config(asked) if asked.scope == "user" else asked.project / ".opencode"
    part = script("opencode", "opencode.js", asked.launcher)
    return (Target(folder / "plugins" / "reflector.js", part),)


OPENCODE = Recipe(
    "opencode",
    "OpenCode",
    "opencode",
    ("session.created", "chat.message", "session.idle", "session.compacted", "session.deleted"),
    _config,
    _targets,
    ("OpenCode reads its plugins when it starts: start it anew.",),
)
