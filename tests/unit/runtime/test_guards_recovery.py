"""What a dead owner left is proved by git, and finished by whoever comes next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reflector.core.errors import GitError
from reflector.core.run import Outcome, Phase, Settlement
from reflector.runtime import supervisor
from reflector.runtime.integration import integrate, job_of, surely
from reflector.runtime.launch import run_child
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.recovery import recover
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.supervisor import supervise
from reflector.store import reservations
from reflector.vcs import merge, worktree
from reflector.vcs.merge import Integrated
from tests.support.guarded import NEW, bench, born, reserved, waiting
from tests.support.journals import OTHER
from tests.support.repos import door
from tests.support.transcripts import conversation
from tests.support.watching import QuietWatch

pytestmark = pytest.mark.slow

CHILDREN = Path(__file__).resolve().parents[2] / "support" / "children.py"
LEARNS = (sys.executable, str(CHILDREN), "learns")


class Death(BaseException):
    """What no code of the product catches."""


def test_whoever_writes_next_lets_the_files_follow_a_merge_whose_maker_died(tmp_path):
    with waiting(born(tmp_path)) as found:
        job, repo = job_of(found.bench, found.work), found.repo
        walk = merge.steps(door(repo), job, save_merge=lambda _: None, sleep=lambda _: None)
        while next(walk) != "moved":
            pass
        walk.close()
        assert (repo.path / ".git" / "index.lock").exists()
        assert repo.status() != ""
        with memory_write(found.bench.context):
            assert repo.status() == ""
        assert not (repo.path / ".git" / "index.lock").exists()
        for path, text in NEW.items():
            assert (repo.path / path).read_text() == text


def test_a_merge_that_landed_is_seen_though_the_ledger_does_not_know_of_it(tmp_path):
    with waiting(born(tmp_path)) as found:
        job = job_of(found.bench, found.work)
        done = merge.integrate(
            door(found.repo), job, save_merge=lambda _: None, sleep=lambda _: None
        )
        assert isinstance(done, Integrated)
        reservations.adopt(found.bench.state, found.work.run.id, OTHER)
        (run,) = recover(found.bench, "reflection")
    assert run.settlement is not None
    assert (run.outcome, run.settlement.merge_commit) == (Outcome.MERGED, done.sha)


def test_a_worktree_is_made_only_when_the_ledger_knows_of_it(tmp_path: Path, monkeypatch):
    known: list[tuple[Phase, bool]] = []
    with bench(born(tmp_path)) as work:

        def create(_git: object, place: worktree.Worktree) -> None:
            run = reservations.find(work.state.connection, mine.id)
            known.append((run.phase, run.branch == place.branch))
            raise GitError("The disk is full.")

        monkeypatch.setattr(worktree, "create", create)
        mine = reserved(work)
        supervise(work, mine)
    assert known == [(Phase.PROVISIONING, True)]


def test_a_merge_that_breaks_off_after_it_landed_has_landed(tmp_path):
    with waiting(born(tmp_path)) as found:

        def breaks_off() -> Settlement:
            integrate(found.bench, found.work)
            raise GitError("The disk is full.")

        end = surely(found.bench, found.work, breaks_off)
        assert (end.outcome, end.merge_commit) == (Outcome.MERGED, found.repo.sha("main"))


def test_what_a_child_had_finished_is_merged_though_its_supervisor_died(tmp_path, monkeypatch):
    memory = born(tmp_path)
    talk = conversation(tmp_path / "talk.jsonl", "Keep it short, please.", "I will.")

    def dies_after(*given, **named):
        run_child(*given, **named)
        raise Death

    monkeypatch.setattr(supervisor, "run_child", dies_after)
    with pytest.raises(Death):
        reflect(memory, Options(files=[talk]), QuietWatch(), LEARNS)
    reflect(memory, Options(), QuietWatch(), ("false",))
    with memory.state() as state:
        assert [run.outcome for run in reservations.recent(state.connection, 9)] == ["merged"]
