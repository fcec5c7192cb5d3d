"""`reflector decisions consolidate`: what it did, what is left, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.runtime import supervisor
from reflector.store.locks import Lock
from reflector.surface.cli.main import main
from tests.support.messages_server import fails
from tests.support.projects import Person, delta, here, person

pytestmark = pytest.mark.slow

RIGHT = "Status bar: solid right edge, no bold."
TYPED = "It broke again, the right edge of the status bar"
KEYS = {"extracted", "runs", "queued", "waiting", "eligible", "why", "next_due_at"}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(supervisor, "run_child", here)
    with person(tmp_path) as made:
        yield made


def asks(scene: Person, capsys, *words: str) -> tuple[int, str]:
    code = main(["decisions", "consolidate", *words, "--home", str(scene.home)])
    return code, "".join(capsys.readouterr())


def test_it_tells_the_truth_when_there_is_nothing_to_do(scene: Person, capsys):
    assert asks(scene, capsys) == (0, "0 waiting, 0 eligible; nothing is due\n")
    code, printed = asks(scene, capsys, "--json")
    told = json.loads(printed)
    assert (code, set(told)) == (0, KEYS)
    assert (told["runs"], told["why"], told["next_due_at"]) == ([], "nothing", None)


def test_what_is_stated_once_waits(scene: Person, capsys):
    scene.model.hears["tabs"] = [delta("Tabs stay.", "tabs stay")]
    scene.types("the tabs stay where they are, please")
    code, printed = asks(scene, capsys, "--force")
    assert code == 0
    assert "1 message read, 1 decision understood, 0 skipped, 0 failed\n" in printed
    assert printed.endswith("1 waiting, 0 eligible; nothing is due\n")


def test_it_merges_what_matters_and_then_says_when_more_is_due(scene: Person, capsys):
    scene.model.hears["broke again"] = [delta(RIGHT, "broke again", "regression")]
    scene.types(TYPED)
    code, printed = asks(scene, capsys, "--json")
    [run] = json.loads(printed)["runs"]
    assert (code, run["outcome"], run["pipeline"]) == (0, "merged", "decisions")
    scene.model.hears["broke again"] = [delta("Tabs stay.", "broke again", "regression")]
    scene.types("Fine.", "the tabs are gone, it broke again", session="talk")
    code, printed = asks(scene, capsys)
    assert code == 0
    assert printed.endswith("1 waiting, 1 eligible; next due in 5 min\n")
    assert "Tabs stay." not in scene.file("product")


def test_without_a_model_it_says_what_is_missing(scene: Person, capsys):
    scene.model.hears["broke again"] = [delta(RIGHT, "broke again", "regression")]
    scene.types(TYPED)
    scene.works()
    config = (scene.home / "config.toml").read_text().replace('"anthropic"', '"rules"')
    (scene.home / "config.toml").write_text(config)
    code, printed = asks(scene, capsys, "--force")
    assert code == 0
    assert "1 waiting, 1 eligible; the engine makes no small calls" in printed
    code = main(["status", "--json", "--home", str(scene.home)])
    told = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in told["notices"]] == ["decisions_no_model"]


def test_a_provider_that_does_not_answer_is_exit_1_and_a_person_may_try_again_at_once(
    scene: Person, capsys
):
    scene.types(TYPED)
    scene.model.down = fails(401, "authentication_error", "bad key")
    for _ in range(2):
        code, printed = asks(scene, capsys, "--force")
        assert code == 1
        assert "1 message not read yet: the call failed" in printed
    assert len(scene.model.requests) == 2
    scene.model.down = None
    assert asks(scene, capsys)[0] == 0
    assert len(scene.model.requests) == 3


def test_beside_a_worker_it_is_busy(scene: Person, capsys):
    presence = Lock(scene.context().agent.lock("run-decisions"))
    assert presence.take()
    code, printed = asks(scene, capsys)
    presence.release()
    assert code == 4
    assert "being worked on already" in printed
