"""Claude Code: hooks and one permission rule in its settings file."""

from __future__ import annotations

from pathlib import PurePosixPath

from reflector.harness.installs.parts import Shared
from reflector.harness.installs.recipe import Asked, Recipe, Target, hooks

# SessionEnd has 1.5 seconds unless a hook asks for more.
_SECONDS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "Stop": 5,
    "SubagentStop": 5,
    "PreCompact": 5,
    "SessionEnd": 5,
}
# Without `compact` the memory would be gone after a compaction.
_MATCHER = "startup|resume|clear|compact"


def _config(asked: Asked) -> PurePosixPath:
    return asked.folder("CLAUDE_CONFIG_DIR", ".claude")


def _targets(asked: Asked) -> tuple[Target, ...]:
    groups = hooks(asked, "claude-code", _SECONDS)
    groups["SessionStart"] = {"matcher": _MATCHER, **groups["SessionStart"]}
    # The local file of a project: what we write names a path of this machine, and
    # `.claude/settings.json` is committed for everybody who works there.
    user = asked.scope == "user"
    path = (
        _config(asked) / "settings.json"
        if user
        else asked.project / ".claude" / "settings.local.json"
    )
    rules = (f"Bash({asked.reading}:*)",) if asked.permission else ()
    part = Shared("claude-code", groups, rules, ("permissions", "allow"), "Bash(%:*)")
    return (Target(path, part),)


CLAUDE_CODE = Recipe(
    "claude-code",
    "Claude Code",
    "claude",
    tuple(_SECONDS),
    _config,
    _targets,
    ("Sessions that are open keep their old settings: start a new one.",),
)
