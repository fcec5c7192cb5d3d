"""What a sweep keeps before it removes what holds it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import structlog

from reflector.core.sweep import Receipt
from reflector.runtime.sweep import sweep
from reflector.runtime.wiring import Context
from reflector.store.locks import Lock
from reflector.vcs.worktree import BRANCHES
from tests.support.guarded import born
from tests.support.repos import Repo

LONG_AGO = "20200101T000000-0123abcd"


@pytest.fixture
def memory(tmp_path: Path) -> Context:
    return born(tmp_path)


def swept(memory: Context) -> list[Receipt]:
    return sweep(memory, structlog.get_logger(), dry_run=False)


def test_commits_that_no_run_knows_of_outlive_their_branch(memory):
    repo, branch = Repo(memory.agent.repo), f"{BRANCHES}1-{LONG_AGO}"
    tip = repo.branch_with(branch, {"reference/half.md": "half\n"})
    assert [(each.target, each.removed) for each in swept(memory)] == [(branch, True)]
    assert repo.git("branch", "--list", "memory/*") == ""
    assert repo.sha(f"refs/reflector/backup/{LONG_AGO}") == tip


def test_a_secret_of_a_killed_run_is_not_kept_and_leaves_git(memory):
    repo, branch = Repo(memory.agent.repo), f"{BRANCHES}1-{LONG_AGO}"
    folder = memory.agent.run(LONG_AGO)
    folder.mkdir(parents=True)
    (folder / "payload.json").write_text("{}")
    secret = "ghp" + "_" + "A1b2C3d4E5" * 4
    repo.branch_with(branch, {"reference/half.md": f"{secret}\n"})
    assert (branch, True) in [(each.target, each.removed) for each in swept(memory)]
    assert repo.attempt("rev-parse", "--verify", f"refs/reflector/backup/{LONG_AGO}").returncode
    assert secret not in repo.git("cat-file", "--batch-all-objects", "--batch")
    repo.assert_sound()


def test_a_run_that_the_ledger_does_not_know_may_be_a_living_owner_s(memory):
    branch = f"{BRANCHES}1-{LONG_AGO}"
    Repo(memory.agent.repo).branch_with(branch, {"reference/half.md": "half\n"})
    presence = Lock(memory.agent.lock("run-reflection"))
    assert presence.take()
    assert swept(memory) == []
    presence.release()
    assert [each.target for each in swept(memory)] == [branch]


def test_a_folder_that_git_does_not_know_is_set_aside_whole(memory):
    folder = memory.agent.worktrees / f"1-{LONG_AGO}"
    folder.mkdir()
    (folder / "half.md").write_text("half\n")
    os.utime(folder, (1, 1))
    assert [each.removed for each in swept(memory)] == [True]
    assert not folder.exists()
    kept = memory.agent.run(LONG_AGO) / "scratch" / folder.name / "half.md"
    assert kept.read_text() == "half\n"


def test_a_lock_that_a_dead_change_left_in_the_diary_goes(memory):
    lock = memory.agent.diary / ".git" / "refs" / "heads" / "main.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (1, 1))
    assert [each.target for each in swept(memory)] == ["diary/.git/refs/heads/main.lock"]
    assert not lock.exists()


def test_a_lock_that_a_living_git_may_hold_stays(memory):
    lock = memory.agent.repo / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    git = subprocess.Popen(
        ["git", "cat-file", "--batch"],
        cwd=memory.agent.repo,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        assert swept(memory) == []
        assert lock.exists()
    finally:
        git.communicate()
