"""Whoever dies while something is forgotten: the same command again finishes it."""

from __future__ import annotations

import pytest

from reflector.runtime import supervisor
from reflector.runtime.adoption import adopt
from reflector.runtime.forgetting.intent import place
from reflector.runtime.forgetting.target import Asked
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.problems import problems
from reflector.vcs.glance import glance
from tests.support import searching
from tests.support.forgetting import SECRET, forgotten, killed_at, learned
from tests.support.repos import Repo, scrubbed
from tests.support.scenes import Scene, Stage

pytestmark = pytest.mark.crash


@pytest.fixture
def scene(tmp_path, tmp_path_factory, monkeypatch) -> Scene:
    stage = Stage(tmp_path, plain=("default",), seconds=1)
    monkeypatch.setattr(supervisor, "run_child", stage)
    return learned(tmp_path, tmp_path_factory.mktemp("taught"))


STEPS = (
    *("begun", "files", "written", "intended", "noted", "locked", "checked", "moved", "followed"),
    *("replaced", "memory", "erased", "compacted"),
)


@pytest.mark.parametrize("words", [SECRET, "jsonl/talk", "reference/facts.md"])
@pytest.mark.parametrize("last", STEPS)
def test_whoever_is_killed_at_any_step_the_same_command_finishes(scene, last, words):
    person = scene.repo / "system/persona.md"
    person.write_bytes(b"my own work\n")
    killed_at(scene, Asked(words, history=True), last)
    assert person.read_bytes() == b"my own work\n"
    forgotten(scene, words)
    wanted = SECRET if words == SECRET else "ships in May"
    assert searching.in_objects(scene.repo, wanted) == []
    if words != "reference/facts.md":
        assert searching.everywhere(scene.home, wanted) == []
    assert scene.git("status", "--porcelain") == " M system/persona.md\n"
    assert person.read_bytes() == b"my own work\n"
    Repo(scene.repo).assert_sound()
    assert not place(scene.context().agent).exists()


@pytest.mark.parametrize("last", ["begun", "files", "memory", "erased", "compacted"])
def test_so_it_does_without_history(scene, last):
    asked = Asked(SECRET)
    killed_at(scene, asked, last)
    forgotten(scene, history=False)
    assert searching.in_tables(scene.home, SECRET) == []
    assert searching.in_files(scene.home, SECRET) == []
    assert SECRET not in scene.git("grep", "-c", "", "main")
    assert len(scene.git("log", "--format=%s", "--grep=forgotten").splitlines()) == 1


def test_until_it_is_finished_nobody_takes_the_files_for_a_person_s(scene):
    asked = Asked(SECRET, history=True)
    killed_at(scene, asked, "moved")
    head = scene.git("rev-parse", "main")
    with memory_write(scene.context()):
        pass  # whoever changes memory mends first what dead ones left
    assert (scene.repo / ".git/index.lock").exists()
    assert adopt(scene.context()).commit is None
    assert scene.git("rev-parse", "main") == head
    with scene.context().state() as state:
        found = problems(scene.context(), state, glance(scrubbed(), scene.repo), ())
    assert "forget_unfinished" in {each.code for each in found}
    forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []


def test_a_lock_of_git_that_died_with_it_is_in_nobody_s_way(scene):
    killed_at(scene, Asked(SECRET, history=True), "checked")
    (scene.repo / ".git/refs/heads/main.lock").touch()
    (scene.repo / ".git/packed-refs.lock").touch()
    forgotten(scene)
    assert searching.everywhere(scene.home, SECRET) == []
