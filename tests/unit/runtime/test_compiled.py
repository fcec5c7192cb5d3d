"""How a block tells an agent to read more: a command that works in the agent's own shell."""

from __future__ import annotations

import shlex
from pathlib import Path

from reflector.runtime import birth
from reflector.runtime.compiled import Wanted, compile_block
from reflector.runtime.wiring import context


def command(text: str) -> list[str]:
    line = next(one for one in text.splitlines() if one.startswith("Whole documents: "))
    return shlex.split(line.removeprefix("Whole documents: `").removesuffix("`"))


def told(home: Path, identity: str | None = None) -> list[str]:
    found = context(str(home), identity)
    birth.init(found)
    return command(compile_block(found, Wanted())[1].text)


def test_in_the_usual_home_the_launcher_is_enough(guarded):
    home = guarded / ".reflector"
    assert told(home) == [f"{home}/bin/reflector", "memory", "cat", "PATH"]


def test_another_home_and_another_identity_are_named(tmp_path):
    home = tmp_path / "my home"
    words = [f"{home}/bin/reflector", "memory", "cat", "PATH", "--home", str(home)]
    assert told(home) == words
    assert told(home, "acme") == [*words, "--identity", "acme"]


def test_without_a_launcher_the_command_of_this_very_installation_is_named(tmp_path):
    told(tmp_path)
    (tmp_path / "bin" / "reflector").unlink()
    found = context(str(tmp_path))
    words = command(compile_block(found, Wanted())[1].text)
    assert Path(words[0]).is_absolute()
    assert Path(words[0]).exists()
    assert words[-5:-2] == ["memory", "cat", "PATH"]


def test_the_working_tree_is_never_read(tmp_path):
    found = context(str(tmp_path))
    birth.init(found)
    (found.agent.repo / "system" / "human.md").write_text("---\ndescription: x\n---\nDRAFT\n")
    (found.agent.repo / "system" / "new.md").write_text("---\ndescription: x\n---\nDRAFT\n")
    assert "DRAFT" not in compile_block(found, Wanted())[1].text
