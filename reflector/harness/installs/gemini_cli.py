"""Gemini CLI: hooks in its settings file, and one policy file."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from reflector.harness.installs.parts import Shared, Whole
from reflector.harness.installs.recipe import Asked, Recipe, Target, hooks

_MILLISECONDS = {
    "SessionStart": 10_000,
    "BeforeAgent": 5_000,
    "AfterAgent": 5_000,
    "PreCompress": 5_000,
    "SessionEnd": 5_000,
}
_MARK = "Written by `reflector install gemini-cli`"
_POLICY = """\
# {mark}; `reflector uninstall gemini-cli` removes it.
# It lets Gemini read documents of the memory without asking.
[[rule]]
toolName = "run_shell_command"
commandPrefix = {reading}
decision = "allow"
priority = 100
"""


def _config(asked: Asked) -> PurePosixPath:
    # The variable takes the place of the person's home, not of the folder in it.
    return asked.folder("GEMINI_CLI_HOME", ".") / ".gemini"


def _targets(asked: Asked) -> tuple[Target, ...]:
    user = asked.scope == "user"
    folder = _config(asked) if user else asked.project / ".gemini"
    part = Shared("gemini-cli", hooks(asked, "gemini-cli", _MILLISECONDS), comments=True)
    found = [Target(folder / "settings.json", part)]
    # `tools.allowed` in the settings would print a warning at every start; Gemini does not read
    # the policies of a project (its issue 18186).
    if asked.permission and user:
        policy = _POLICY.format(mark=_MARK, reading=json.dumps(asked.reading))
        found.append(Target(folder / "policies" / "reflector.toml", Whole(policy, _MARK)))
    return tuple(found)


GEMINI_CLI = Recipe(
    "gemini-cli",
    "Gemini CLI",
    "gemini",
    tuple(_MILLISECONDS),
    _config,
    _targets,
    ("Sessions that are open keep their old settings: start a new one.",),
)
