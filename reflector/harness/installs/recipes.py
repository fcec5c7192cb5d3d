"""The harnesses that Reflector can be installed in."""

from __future__ import annotations

from collections.abc import Mapping

from reflector.harness.installs.claude_code import CLAUDE_CODE
from reflector.harness.installs.codex import CODEX
from reflector.harness.installs.gemini_cli import GEMINI_CLI
from reflector.harness.installs.opencode import OPENCODE
from reflector.harness.installs.pi import PI
from reflector.harness.installs.recipe import Recipe

RECIPES: Mapping[str, Recipe] = {
    each.name: each for each in (CLAUDE_CODE, CODEX, OPENCODE, GEMINI_CLI, PI)
}
