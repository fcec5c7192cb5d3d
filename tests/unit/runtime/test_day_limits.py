"""The limits of the day hold for what a person asks for, too (ENGINE 14)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflector.agent.abilities import ABILITIES
from reflector.core.schedule import Engine
from reflector.runtime import supervisor
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.surface.cli.main import main
from tests.support.scenes import Scene, Stage, outcomes

pytestmark = pytest.mark.slow

CONFIG = "[trigger]\nstep_count = 0\n[day]\nmax_runs = 2\n[dream]\nenabled = false\n"


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path, seconds=0))
    monkeypatch.setitem(ABILITIES, "rules", Engine("rules", calls_model=True))
    return Scene(tmp_path, CONFIG)


def asks(scene: Scene, number: int, **options: Any):
    scene.says(f"Lesson {number}.", "Yes.", session=f"talk-{number}")
    return reflect(scene.context(), Options(**options), Quiet())


def test_a_person_s_runs_count_and_are_refused_when_the_day_is_used_up(scene):
    assert [outcomes(asks(scene, number).runs) for number in (1, 2)] == [["merged"], ["merged"]]
    third = asks(scene, 3)
    assert third.runs == ()
    assert third.over is not None
    assert third.over.exit_code == 4
    assert "2 of 2 reflection runs" in third.over.message
    assert "--over-budget" in third.over.hint


def test_over_budget_runs_all_the_same_and_counts(scene):
    for number in (1, 2):
        asks(scene, number)
    assert outcomes(asks(scene, 3, over_budget=True).runs) == ["merged"]
    refused = asks(scene, 4).over
    assert refused is not None
    assert "3 of 2" in refused.message


def test_the_next_day_has_room_again(scene):
    for number in (1, 2):
        asks(scene, number)
    assert asks(scene, 3).over is not None
    scene.clock.sleep(24 * 3600)
    assert outcomes(asks(scene, 4).runs) == ["merged"]


def test_dollars_are_a_limit_of_their_own(scene):
    (scene.home / "config.toml").write_text("[day]\nmax_cost_usd = 0.0\n", "utf-8")
    over = asks(scene, 1).over
    assert over is not None
    assert over.facts["why"] == "day_cost"
    assert "0.00 of 0.00 USD" in over.message


def test_an_engine_that_calls_no_model_knows_no_limit(scene, monkeypatch):
    monkeypatch.setitem(ABILITIES, "rules", Engine("rules", calls_model=False))
    assert [asks(scene, number).over for number in range(4)] == [None] * 4


def test_runs_before_the_limit_are_told_of_with_it(scene, capsys):
    for number in range(3):
        scene.says(f"Lesson {number}. " + "x" * 1000, "Yes.", session=f"large-{number}")
    (scene.home / "config.toml").write_text(f"{CONFIG}[run]\nmax_bytes = 1200\n", "utf-8")
    code = main(["reflect", "--home", str(scene.home), "--json"])
    done = json.loads(capsys.readouterr().out)
    assert [run["outcome"] for run in done["runs"]] == ["merged", "merged"]
    assert (code, done["error"]["code"], done["error"]["runs"]) == (4, "day_limit", "2")
    code = main(["reflect", "--home", str(scene.home)])
    said = capsys.readouterr()
    assert code == 4
    assert "2 of 2 reflection runs" in said.err
    assert "Nothing new" not in said.out
    code = main(["reflect", "--home", str(scene.home), "--over-budget"])
    assert code == 0
    assert "Learned:" in capsys.readouterr().out
