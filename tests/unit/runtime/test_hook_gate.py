"""What a hook must know before it reads anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.runtime import hook_gate
from tests.support.scenes import Scene


@pytest.mark.parametrize(("config", "told"), [("", False), ("[recall]\ninject = true\n", True)])
def test_a_hook_asks_what_a_prompt_recalls_only_where_that_is_switched_on(
    tmp_path: Path, *, config: str, told: bool
):
    scene = Scene(tmp_path, config=config)
    hook_gate.refresh(scene.context())
    assert ("recall on" in (scene.home / "hook.gate").read_text().splitlines()) is told


def test_one_identity_does_not_switch_it_on_for_all(tmp_path: Path):
    scene = Scene(tmp_path)
    (scene.context().agent.path / "config.toml").write_text("[recall]\ninject = true\n")
    hook_gate.refresh(scene.context())
    assert "recall on" not in (scene.home / "hook.gate").read_text().splitlines()
