"""`experiences extract` says what it did, and why it did no more."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from reflector.runtime.calls.waits import Why
from reflector.surface.cli.experiences import extract
from reflector.surface.cli.main import main
from tests.support.scenes import Scene


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    made.says("How do I free space?", "Look with df first.")
    return made


def asks(scene: Scene, capsys, *words: str) -> tuple[int, str]:
    code = main([*words, "--home", str(scene.home)])
    return code, capsys.readouterr().out


def test_every_reason_to_do_nothing_has_words():
    assert extract._WHY.keys() == set(get_args(Why))


@pytest.mark.parametrize(
    ("config", "why", "said"),
    [
        ("", "no_model", "the engine makes no small calls: `engine.name` anthropic does"),
        ("[experiences]\nenabled = false\n", "disabled", "experiences.enabled is false"),
    ],
)
def test_what_cannot_be_read_waits_and_is_told(scene, capsys, config, why, said):
    (scene.home / "config.toml").write_text(config)
    code, printed = asks(scene, capsys, "experiences", "extract")
    assert (code, printed) == (0, f"{said}; 1 conversation left\n")
    code, printed = asks(scene, capsys, "experiences", "extract", "--json")
    assert json.loads(printed) == {
        "runs": [],
        "waiting": ["jsonl/talk"],
        "why": why,
        "next_due_at": None,
    }


def test_status_tells_a_person_without_a_model_what_waits(scene, capsys):
    code, printed = asks(scene, capsys, "status")
    assert code == 0
    assert "extract  1 conversation to read, by engine.name anthropic alone" in printed
    (scene.home / "config.toml").write_text("[experiences]\nenabled = false\n")
    _, printed = asks(scene, capsys, "status")
    assert "extract  " not in printed


def test_all_of_everything_is_not_read_by_accident(scene, capsys):
    code = main(["experiences", "extract", "--all", "--home", str(scene.home)])
    assert code == 2
    assert "--conversation" in capsys.readouterr().err


def test_whoever_has_none_yet_is_told_what_makes_them(scene, capsys):
    for layer in ("experiences", "facts"):
        code, printed = asks(scene, capsys, layer, "list")
        assert (code, printed) == (
            0,
            f"There are no {layer} yet; `reflector experiences extract` reads what waits.\n",
        )
        assert main([layer, "show", "abcdef12", "--home", str(scene.home)]) == 1
        assert "none yet; `reflector experiences extract`" in capsys.readouterr().err
