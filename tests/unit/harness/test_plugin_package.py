"""The plugin of Claude Code does what `install claude-code` does, and says which version it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from reflector import __version__
from reflector.harness.installs.claude_code import CLAUDE_CODE
from reflector.harness.installs.parts import Shared
from reflector.harness.installs.recipe import Asked
from tests.support.cli import ROOT

PLUGIN = ROOT / "plugins" / "reflector"
HOOKS = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]


def front(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text().split("---\n")[1])
    return found


def test_the_plugin_has_the_version_of_reflector():
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("reflector", __version__)


def test_the_marketplace_leads_to_the_plugin():
    listed = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    (only,) = listed["plugins"]
    assert only["name"] == "reflector"
    assert (ROOT / only["source"]).resolve() == PLUGIN


def test_events_matchers_and_timeouts_are_those_of_the_installer():
    person = PurePosixPath("/home/p")
    (target,) = CLAUDE_CODE.targets(Asked("/launcher", "user", person, person, {}))
    assert isinstance(target.part, Shared)
    assert list(HOOKS) == list(target.part.hooks)
    for event, (group,) in HOOKS.items():
        wanted = json.loads(json.dumps(target.part.hooks[event]))
        wanted["hooks"][0]["command"] = group["hooks"][0]["command"]
        assert group == wanted
        assert group["hooks"][0]["command"].endswith(f"hook claude-code {event}")


def ran(command: str, **environ: str) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        check=True,
        timeout=30,
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("event", list(HOOKS))
def test_a_hook_finds_the_launcher_of_the_home_and_is_harmless_without(tmp_path, event):
    command = HOOKS[event][0]["hooks"][0]["command"]
    program = tmp_path / "my person" / ".reflector" / "bin" / "reflector"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    said = f"hook claude-code {event}\n"
    assert ran(command, HOME=str(tmp_path / "my person")) == said
    assert ran(command, HOME="/", REFLECTOR_HOME=str(program.parents[1])) == said
    assert ran(command, HOME=str(tmp_path / "nobody")) == ""


def test_the_skill_keeps_to_the_rules_of_agent_skills():
    place = PLUGIN / "skills" / "reflector-memory" / "SKILL.md"
    fields = front(place)
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata"}
    assert fields["name"] == place.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert 1 <= len(fields["description"]) <= 1024


@pytest.mark.parametrize("name", ["reflect", "memory"])
def test_a_command_says_what_it_does(name):
    assert front(PLUGIN / "commands" / f"{name}.md")["description"]
