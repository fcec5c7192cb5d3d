"""Records of calls outside of runs: kept as long as those of runs, and forgotten like them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflector.agent.engine import Step
from reflector.core.needle import passages
from reflector.core.sweep import DAY
from reflector.runtime import log
from reflector.runtime.calls.asking import job_record
from reflector.runtime.forgetting.files import derived
from reflector.runtime.sweep import sweep
from tests.support.scenes import Scene

STEP = Step("decisions.extract", "m", 5, {}, asked="The harbour is closed on Sundays.")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def recorded(scene: Scene) -> Path:
    """Record a call; return the folder of its day."""
    record = job_record(scene.context(), "1-1")
    assert record is not None
    record(STEP)
    return scene.context().agent.path / "runs" / "jobs" / "2026-11-30"


def swept(scene: Scene) -> list[str]:
    context = scene.context()
    with log.opened(context.agent.log, identity="default") as logger:
        return [each.target for each in sweep(context, logger, dry_run=False) if each.removed]


def test_a_day_of_jobs_is_kept_for_ninety_days(scene: Scene):
    folder = recorded(scene)
    now = scene.clock.now().timestamp()
    os.utime(folder, (now, now))
    scene.clock.sleep(89 * DAY)
    assert swept(scene) == []
    scene.clock.sleep(2 * DAY)
    assert swept(scene) == ["jobs/2026-11-30"]
    assert not folder.exists()


def test_what_is_no_day_is_left_alone(scene: Scene):
    other = scene.context().agent.path / "runs" / "jobs" / "notes"
    other.mkdir(parents=True)
    os.utime(other, (0, 0))
    assert swept(scene) == []
    assert other.exists()


def test_what_a_person_has_forgotten_is_found_there(scene: Scene):
    recorded(scene)
    agent = scene.context().agent
    found = derived(agent, passages(["The harbour is closed on Sundays."]), agent.state)
    assert [file.name for file in found] == ["1-1-0001.json"]


def test_without_step_records_nothing_is_written(scene: Scene):
    (scene.home / "config.toml").write_text("[log]\nsteps = false\n")
    assert job_record(scene.context(), "1-1") is None
    assert not (scene.context().agent.path / "runs" / "jobs").exists()


def test_a_folder_that_cannot_be_made_fails_no_job(scene: Scene):
    (scene.context().agent.path / "runs").mkdir(exist_ok=True)
    (scene.context().agent.path / "runs" / "jobs").write_text("in the way")
    record = job_record(scene.context(), "1-1")
    assert record is not None
    record(STEP)
