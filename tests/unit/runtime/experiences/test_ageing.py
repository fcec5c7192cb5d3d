"""Before a dream old facts go to ARCHIVE.md by one commit; nothing of it can stop the dream."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.agent.engine import Route
from reflector.core.schedule import Manual
from reflector.memory.experiences.form import render
from reflector.memory.rules import check_memory
from reflector.runtime import preparation, supervisor
from reflector.runtime.experiences.ageing import archive_old
from reflector.runtime.experiences.promoting import offered
from reflector.runtime.restoring import restore
from reflector.runtime.writing import write
from reflector.store import recall_uses
from reflector.vcs.reads import Reads
from tests.support.scenes import SCRIPTED, Scene, Stage
from tests.support.stored import linked, stored, tree_of

OLD = stored(1, "fact", title="old", created="2025-01-05T12:00:00.000Z")
USED = stored(2, "fact", title="used", created="2025-01-05T12:00:00.000Z")
YOUNG = stored(3, "fact", title="young", created="2026-11-05T12:00:00.000Z")


@pytest.fixture
def scene(tmp_path, monkeypatch):
    made = Scene(tmp_path, "[trigger]\nstep_count = 0\n", engine=SCRIPTED)
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path))
    files = {one.path: render(one) for one in (OLD, USED, YOUNG, stored(4))}
    write(made.context(), lambda _: files, "what was learned")
    with made.context().state() as state, state.transaction() as connection:
        recall_uses.note(connection, [USED.path], "s", "2026-01-01T00:00:00.000Z")
    return made


def paths(scene):
    return set(scene.git("ls-tree", "-r", "--name-only", "main").split())


def test_a_dream_begins_from_a_memory_without_old_facts(scene):
    before = scene.git("rev-parse", "main").strip()
    scene.event(Manual("cli", pipeline="dream"))
    (run,) = scene.drains()
    assert run.request.pipeline == "dream"
    assert scene.git("rev-parse", f"{run.base}^").strip() == before
    changed = scene.git("diff", "--name-status", before, run.base).split("\n")
    assert changed[:2] == ["M\tARCHIVE.md", f"D\t{OLD.path}"] or changed[:2] == [
        "A\tARCHIVE.md",
        f"D\t{OLD.path}",
    ]
    assert {USED.path, YOUNG.path} < paths(scene)
    assert f"- 2026-11-30: {OLD.path}: old: " in scene.git("show", "main:ARCHIVE.md")
    assert "Memory-Writer: agent" in scene.git("show", "-s", "--format=%B", run.base)


def test_what_was_archived_is_brought_back_as_it_was_and_nothing_is_done_twice(scene):
    here = scene.context()
    before = scene.git("rev-parse", "main").strip()
    done = archive_old(here)
    assert done is not None
    assert set(done.paths) == {"ARCHIVE.md", OLD.path}
    assert archive_old(here) is None
    restore(here, f"{OLD.path}@{before}")
    assert scene.git("show", f"main:{OLD.path}") == render(OLD).decode()
    assert archive_old(here) is None
    with Reads(scene.repo) as reads:
        found = check_memory(reads.tree(scene.git("rev-parse", "main").strip()))
        assert [one for one in found if one.severity == "error"] == []


@pytest.mark.parametrize(
    ("config", "target"), [("[facts]\nkeep_days = 0\n", ""), ("", "system/human.md")]
)
def test_who_keeps_everything_and_a_dream_of_one_document_archive_nothing(scene, config, target):
    (scene.home / "config.toml").write_text(scene.config + config, "utf-8")
    scene.event(Manual("cli", pipeline="dream", target=target))
    assert len(scene.drains()) == 1
    assert OLD.path in paths(scene)


@pytest.mark.parametrize("days", [500_000, 99_999_999])
def test_a_number_of_days_beyond_all_years_keeps_everything(scene, days):
    config = f"{scene.config}[facts]\nkeep_days = {days}\n"
    (scene.home / "config.toml").write_text(config, "utf-8")
    assert archive_old(scene.context()) is None


def test_a_persons_work_in_the_way_stops_no_dream(scene):
    (scene.repo / OLD.path).write_text("mine\n", "utf-8")
    scene.event(Manual("cli", pipeline="dream"))
    (run,) = scene.drains()
    assert OLD.path in paths(scene)
    assert run.outcome is not None


def test_reflections_are_offered_what_was_used_in_three_sessions(scene):
    with scene.context().state() as state:
        assert offered(state, tree_of(stored(9, "fact"))) == ()
        ripe = replace(stored(7), evidence=("h:a:1", "h:b:1", "h:c:1"))
        tree = tree_of(ripe, *linked(stored(8), stored(9)).values())
        (one,) = offered(state, tree)
        assert (one.path, one.task, one.sessions) == (ripe.path, ripe.title, 3)


def test_the_first_message_of_a_reflection_names_them_and_that_of_a_dream_does_not(
    scene, monkeypatch
):
    monkeypatch.setattr(preparation, "_route", lambda *_: Route("a-model"))
    ripe = replace(stored(7), evidence=("h:a:1", "h:b:1", "h:c:1"))
    write(scene.context(), lambda _: {ripe.path: render(ripe)}, "learned")
    found = {}
    for pipeline in ("reflection", "dream"):
        scene.says("Use tabs.", "Yes.", session=pipeline)
        scene.event(Manual("cli", pipeline=pipeline, engine=SCRIPTED))
        (run,) = scene.drains()
        first = scene.context().agent.run(run.id) / "opening.md"
        found[pipeline] = first.read_text("utf-8")
    named = {pipeline: f'"{ripe.path}" 3' in text for pipeline, text in found.items()}
    assert named == {"reflection": True, "dream": False}
    assert "transcript" in found["dream"]
