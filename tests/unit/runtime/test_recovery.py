"""What a dead supervisor left is finished if it can be, and kept if it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import GitError
from reflector.core.park import Watching
from reflector.core.run import Phase, Run
from reflector.core.schedule import Settled
from reflector.memory.edit import Scope
from reflector.memory.rules import Verdict
from reflector.runtime import judgement, log, supervisor
from reflector.runtime.sweep import sweep
from reflector.store import reservations, scheduling
from reflector.vcs import merge, worktree
from reflector.vcs.worktree import Worktree
from tests.support.auditor import audit
from tests.support.repos import Repo
from tests.support.scenes import Scene, Stage, outcomes

pytestmark = pytest.mark.slow

DAY = 86_400
LESSON = "Always use tabs in Makefiles."
HUMAN = "system/human.md"


class DeathError(BaseException):
    """Stands for the end of the process; nobody catches it."""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene(tmp_path, "[trigger]\nstep_count = 1\n")
    made.says(LESSON, "Noted.")
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path, plain=("default",)))
    return made


@pytest.fixture
def repo(scene: Scene) -> Repo:
    return Repo(scene.repo)


def dead(scene: Scene, monkeypatch: pytest.MonkeyPatch, phase: Phase) -> Run:
    """Let the supervisor die right after it has saved a phase."""
    advance = reservations.advance

    def dying(*words: Any, **values: Any) -> None:
        advance(*words, **values)
        if words[4] is phase:
            raise DeathError

    scene.event(Settled(success=True))
    with monkeypatch.context() as patch:
        patch.setattr(reservations, "advance", dying)
        with pytest.raises(DeathError):
            scene.drains("false")
    with scene.context().state() as state:
        (run,) = reservations.active(state.connection)
    assert run.phase is phase
    return run


def finished(scene: Scene, run: Run) -> Path:
    """Do what the child of a run would have done; return the run's folder."""
    folder = scene.context().agent.run(run.id)
    Stage(scene.folder, plain=("default",))._rules(folder)
    return folder


def recovered(scene: Scene) -> Run:
    """Let the next supervisor come; return the run that it found."""
    done = scene.drains("false")
    return done[0]


def learned(repo: Repo) -> int:
    return repo.git("show", f"main:{HUMAN}").count(LESSON.rstrip("."))


def test_nothing_was_paid_for_before_the_child_ran(scene, repo, monkeypatch):
    dead(scene, monkeypatch, Phase.PROVISIONING)
    assert outcomes([recovered(scene)]) == ["failed/supervisor_died"]
    assert repo.git("for-each-ref", "refs/reflector") == ""
    audit(scene.home)


def test_a_child_that_had_finished_is_judged_and_merged_and_its_cost_is_noted(
    scene, repo, monkeypatch
):
    folder = finished(scene, dead(scene, monkeypatch, Phase.RUNNING))
    result = json.loads((folder / "out" / "result.json").read_bytes())
    result["finish"]["usage"]["input_tokens"] = 4711
    (folder / "out" / "result.json").write_text(json.dumps(result), "utf-8")
    run = recovered(scene)
    assert outcomes([run]) == ["merged"]
    assert run.settlement is not None
    assert run.settlement.usage["input_tokens"] == 4711
    assert learned(repo) == 1
    audit(scene.home)


def test_a_child_that_had_not_finished_leaves_its_commits_under_a_backup(scene, repo, monkeypatch):
    run = dead(scene, monkeypatch, Phase.RUNNING)
    (finished(scene, run) / "out" / "result.json").unlink()
    tip = repo.sha(run.branch or "")
    assert outcomes([recovered(scene)]) == ["failed/supervisor_died"]
    assert repo.sha(f"refs/reflector/backup/{run.id}") == tip
    audit(scene.home)


def meddled(folder: Path) -> None:
    with (folder.parents[1] / "repo" / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("[core]\n\thooksPath = /tmp\n")


def forgotten(folder: Path) -> None:
    (folder / "administration.json").unlink()


def torn(folder: Path) -> None:
    (folder / "administration.json").write_text('{"a"', "utf-8")


@pytest.mark.parametrize(
    ("harm", "outcome"),
    [
        (meddled, "failed/git_admin_altered"),
        (forgotten, "failed/supervisor_died"),
        (torn, "failed/supervisor_died"),
    ],
)
def test_nothing_is_merged_whose_administration_cannot_be_compared(
    scene, repo, monkeypatch, harm: Callable[[Path], None], outcome
):
    harm(finished(scene, dead(scene, monkeypatch, Phase.RUNNING)))
    assert outcomes([recovered(scene)]) == [outcome]
    assert learned(repo) == 0


def test_what_was_being_validated_is_validated_again(scene, monkeypatch):
    dead(scene, monkeypatch, Phase.VALIDATING)
    judged: list[str] = []

    def judge(place: Worktree, tip: str, scope: Scope) -> Verdict:
        judged.append(tip)
        return judgement.judge(place, tip, scope)

    monkeypatch.setattr(supervisor, "judge", judge)
    run = recovered(scene)
    assert (outcomes([run]), judged) == (["merged"], [run.tip])
    audit(scene.home)


def test_what_was_being_integrated_is_integrated_again(scene, repo, monkeypatch):
    dead(scene, monkeypatch, Phase.INTEGRATING)
    assert outcomes([recovered(scene)]) == ["merged"]
    assert learned(repo) == 1
    audit(scene.home)


def test_a_person_in_the_way_of_an_integration_keeps_the_tip_waiting(scene, repo, monkeypatch):
    run = dead(scene, monkeypatch, Phase.INTEGRATING)
    repo.write({HUMAN: "mine for now\n"})
    assert outcomes([recovered(scene)]) == ["parent_dirty"]
    assert repo.sha(f"refs/reflector/kept/{run.id}") == run.tip
    assert (repo.path / HUMAN).read_text("utf-8") == "mine for now\n"


def test_a_conflict_with_a_person_s_commit_is_found_in_the_recovery_too(scene, repo, monkeypatch):
    run = dead(scene, monkeypatch, Phase.INTEGRATING)
    text = (repo.path / HUMAN).read_text("utf-8")
    repo.commit({HUMAN: text.replace("## Preferences\n", "## Preferences\n\n- mine (2026)\n")})
    assert outcomes([recovered(scene)]) == ["merge_conflict"]
    assert repo.sha(f"refs/reflector/kept/{run.id}") == run.tip


def test_a_merge_that_landed_stays_merged_though_a_person_took_it_out(scene, repo, monkeypatch):
    run = dead(scene, monkeypatch, Phase.INTEGRATED)
    repo.git("reset", "-q", "--hard", run.base or "")
    settled = recovered(scene)
    assert outcomes([settled]) == ["merged"]
    assert learned(repo) == 0
    audit(scene.home, person_reset_main=True)


def test_an_integration_that_git_cannot_judge_is_left_to_the_next(scene, repo, monkeypatch):
    dead(scene, monkeypatch, Phase.INTEGRATING)
    head = repo.path / ".git" / "HEAD"
    content = head.read_bytes()
    head.write_bytes(b"\0" * 8)
    with pytest.raises(GitError):
        recovered(scene)
    head.write_bytes(content)
    assert outcomes([recovered(scene)]) == ["merged"]
    audit(scene.home)


def test_an_error_behind_the_merge_does_not_unmake_it(scene, repo, monkeypatch):
    scene.event(Settled(success=True))
    with monkeypatch.context() as patch:

        def failing(*_words: Any) -> None:
            patch.undo()
            raise OSError(28, "No space left on device")

        patch.setattr(merge, "settle_index", failing)
        patch.setattr(supervisor, "run_child", Stage(scene.folder, plain=("default",)))
        done = scene.drains("false")
    assert outcomes(done) == ["merged"]
    assert learned(repo) == 1
    audit(scene.home)


def test_a_worktree_that_outlived_its_settled_run_goes(scene, monkeypatch):
    scene.event(Settled(success=True))
    with monkeypatch.context() as patch:
        patch.setattr(worktree, "close", lambda *_words: None)
        assert outcomes(scene.drains("false")) == ["merged"]
    assert len(list(scene.context().agent.worktrees.iterdir())) == 1
    scene.drains("false")
    audit(scene.home)


# A tip that waits


def kept(scene: Scene, repo: Repo) -> Run:
    repo.write({HUMAN: "mine for now\n"})
    scene.event(Settled(success=True))
    runs = scene.drains("false")  # it is tried again at once
    assert set(outcomes(runs)) == {"parent_dirty"}
    return runs[0]


def test_a_tip_waits_for_fourteen_days_and_then_its_rows_are_read_again(scene, repo):
    before = (repo.path / HUMAN).read_text("utf-8")
    run = kept(scene, repo)
    scene.clock.passed += 14 * DAY - 60
    assert outcomes(scene.drains("false")) == ["parent_dirty"]
    scene.clock.passed += 60
    (ended,) = scene.drains("false")
    assert outcomes([ended]) == ["merge_conflict"]
    assert (ended.id, "14 days" in ended.settlement.detail) == (run.id, True)
    audit(scene.home)

    with log.opened(scene.context().agent.log) as logger:
        scene.clock.passed += DAY
        sweep(scene.context(), logger, dry_run=False)
    assert repo.git("for-each-ref", "refs/reflector") == ""
    repo.write({HUMAN: before})
    scene.event(Settled(success=True))
    assert outcomes(scene.drains("false")) == ["merged"]
    assert learned(repo) == 1
    audit(scene.home)


def test_a_tip_that_can_be_merged_on_its_last_day_is_merged(scene, repo):
    before = (repo.path / HUMAN).read_text("utf-8")
    run = kept(scene, repo)
    repo.write({HUMAN: before})
    scene.clock.passed += 20 * DAY
    (merged,) = scene.drains("false")
    assert (merged.id, outcomes([merged])) == (run.id, ["merged"])
    assert repo.git("for-each-ref", "refs/reflector") == ""
    audit(scene.home)


def killed(scene: Scene, times: int) -> None:
    """Let so many supervisors find the run and die of it."""
    for _ in range(times):
        with pytest.raises(DeathError):
            scene.drains("false")


def died(*_words: Any, **_values: Any) -> None:
    raise DeathError


def streak(scene: Scene) -> int:
    with scene.context().state() as state:
        found = scheduling.park_state(state.connection, "rules")
    assert isinstance(found, Watching)
    return found.streak.failures if found.streak else 0


def test_a_run_that_kills_whoever_validates_it_is_given_up_and_its_tip_kept(
    scene, repo, monkeypatch
):
    run = dead(scene, monkeypatch, Phase.VALIDATING)
    monkeypatch.setattr(supervisor, "judge", died)
    killed(scene, 2)
    assert streak(scene) == 2  # the breaker sees the deaths of a run that is not settled yet
    end = recovered(scene)
    assert outcomes([end]) == ["failed/supervisor_died"]
    assert end.settlement is not None
    assert end.settlement.detail == "3 supervisors died while validating."
    assert repo.sha(f"refs/reflector/backup/{run.id}") == end.tip
    assert streak(scene) == 3
    with scene.context().state() as state:
        assert scheduling.mark(state.connection, f"deaths of {run.id}") is None
    audit(scene.home)


def test_a_run_that_kills_whoever_merges_it_is_given_up_and_its_tip_kept(scene, repo, monkeypatch):
    run = dead(scene, monkeypatch, Phase.INTEGRATING)
    with monkeypatch.context() as patch:
        patch.setattr(merge, "integrate", died)
        killed(scene, 2)
        assert outcomes([recovered(scene)]) == ["failed/supervisor_died"]
    assert repo.sha(f"refs/reflector/backup/{run.id}")
    assert learned(repo) == 0
    audit(scene.home)


def test_what_landed_stays_merged_however_many_die_of_it(scene, repo, monkeypatch):
    dead(scene, monkeypatch, Phase.INTEGRATED)
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE runs SET phase = 'integrating' WHERE state = 'active'")
    with monkeypatch.context() as patch:
        patch.setattr(merge, "landed", died)
        killed(scene, 2)
        assert outcomes([recovered(scene)]) == ["merged"]
    assert learned(repo) == 1
    audit(scene.home)


def test_two_deaths_in_a_phase_are_no_reason_to_give_up(scene, repo, monkeypatch):
    dead(scene, monkeypatch, Phase.VALIDATING)
    with monkeypatch.context() as patch:
        patch.setattr(supervisor, "judge", died)
        killed(scene, 1)
    assert outcomes([recovered(scene)]) == ["merged"]
    assert (learned(repo), streak(scene)) == (1, 0)
    audit(scene.home)
