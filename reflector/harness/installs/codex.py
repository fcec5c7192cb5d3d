"""Codex: hooks in a file of their own, and one rule file."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from reflector.harness.installs.parts import Shared, Whole
from reflector.harness.installs.recipe import Asked, Recipe, Target, hooks

_SECONDS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "Stop": 5,
    "SubagentStop": 5,
    "PreCompact": 5,
    "SessionEnd": 3,  # more is cut to 3, with a warning at every start
}
_MARK = "Written by `reflector install codex`"
_RULES = """\
# {mark}; `reflector uninstall codex` removes it.
# It lets Codex read documents of the memory without asking.
prefix_rule(
    pattern = [{program}, "memory", "cat"],
    decision = "allow",
    justification = "Reading the memory of Reflector changes nothing",
)
"""


def _config(asked: Asked) -> PurePosixPath:
    return asked.folder("CODEX_HOME", ".codex")


def _targets(asked: Asked) -> tuple[Target, ...]:
    folder = _config(asked) if asked.scope == "user" else asked.project / ".codex"
    part = Shared("codex", hooks(asked, "codex", _SECONDS))
    rules = _RULES.format(mark=_MARK, program=json.dumps(asked.launcher))
    found = [Target(folder / "hooks.json", part)]
    if asked.permission:
        found.append(Target(folder / "rules" / "reflector.rules", Whole(rules, _MARK)))
    return tuple(found)


CODEX = Recipe(
    "codex",
    "Codex",
    "codex",
    tuple(_SECONDS),
    _config,
    _targets,
    ("Codex runs no hook before you approve it: start `codex`, type /hooks, trust Reflector's.",),
)
