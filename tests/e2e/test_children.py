"""What a run becomes when its child behaves well, badly, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reflector.core.run import Run
from reflector.runtime import birth
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.wiring import Context, context
from reflector.store import journal
from tests.support.cli import git
from tests.support.transcripts import conversation
from tests.support.watching import QuietWatch

CHILDREN = Path(__file__).resolve().parents[1] / "support" / "children.py"

pytestmark = pytest.mark.slow


@pytest.fixture
def memory(tmp_path: Path) -> Context:
    found = context(str(tmp_path / "home"))
    birth.init(found)
    return found


def run_with(memory: Context, behaviour: str, tmp_path: Path) -> Run:
    talk = conversation(tmp_path / "talk.jsonl", "Keep it short, please.", "I will.")
    child = (sys.executable, str(CHILDREN), behaviour)
    done = reflect(memory, Options(files=[talk]), QuietWatch(), child)
    (run,) = done.runs
    return run


def outcome(run: Run) -> tuple[str, str | None]:
    end = run.settlement
    assert end is not None
    return end.outcome.value, end.reason.value if end.reason else None


def cursor(memory: Context) -> int:
    with memory.state() as state:
        (only,) = journal.conversations(state.connection)
        return only.cursor


def assert_untouched(memory: Context) -> None:
    """Main is where it began, nothing hangs about, git finds no fault."""
    repo = memory.agent.repo
    assert git(repo, "rev-list", "--count", "main").strip() == "1"
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    assert not list(memory.agent.worktrees.iterdir())
    assert git(repo, "worktree", "list").count("\n") == 1
    assert git(repo, "branch", "--list", "memory/*") == ""
    git(repo, "fsck", "--strict")


def test_a_good_child_is_merged_with_two_parents_and_moves_the_cursor(memory, tmp_path):
    run = run_with(memory, "learns", tmp_path)
    assert outcome(run) == ("merged", None)
    repo = memory.agent.repo
    parents = git(repo, "rev-list", "--parents", "-1", "main").split()
    assert parents[0] == run.merge_commit
    assert parents[1:] == [run.base, run.tip]
    message = git(repo, "log", "-1", "--format=%B", "main")
    assert f"\nReflector-Run: {run.id}\n" in message
    assert "\nTrigger: manual\nEngine: rules\n" in message
    assert "\nSnapshot: jsonl/talk jsonl:talk.talk-0:0..jsonl:talk.talk-1:0\n" in message
    assert cursor(memory) == 2
    assert git(repo, "status", "--porcelain") == ""
    git(repo, "fsck", "--strict")


FAILURES = {
    "commits_on_another_branch": ("failed", "git_admin_altered"),
    "sets_a_hooks_path": ("failed", "git_admin_altered"),
    "writes_a_hook": ("failed", "git_admin_altered"),
    "rewrites_history": ("failed", "validation"),
    "adds_and_removes_a_secret": ("failed", "validation"),
    "edits_the_boundaries": ("failed", "validation"),
    "writes_no_header": ("failed", "validation"),
    "plants_a_link": ("failed", "validation"),
    "leaves_memory_uncommitted": ("dirty_uncommitted", None),
    "deletes_its_worktree": ("failed", "missing_worktree"),
    "commits_then_deletes_its_worktree": ("failed", "missing_worktree"),
    "could_not_write": ("failed", "engine_error"),
    "dies": ("failed", "child_exit"),
    "says_nothing": ("failed", "no_result"),
    "leaves_half_a_result": ("failed", "no_result"),
}


@pytest.mark.parametrize("behaviour", FAILURES)
def test_a_bad_child_changes_nothing_and_consumes_nothing(memory, tmp_path, behaviour):
    run = run_with(memory, behaviour, tmp_path)
    assert outcome(run) == FAILURES[behaviour]
    assert cursor(memory) == 0
    assert git(memory.agent.repo, "rev-list", "--count", "main").strip() == "1"
    assert git(memory.agent.repo, "status", "--porcelain", "--untracked-files=all") == ""
    assert not list(memory.agent.worktrees.iterdir())


def test_a_child_that_moves_main_is_found_out(memory, tmp_path):
    run = run_with(memory, "moves_main", tmp_path)
    assert outcome(run) == ("failed", "git_admin_altered")
    assert cursor(memory) == 0


def test_a_commit_and_its_revert_are_no_change_and_no_merge(memory, tmp_path):
    run = run_with(memory, "commits_and_reverts", tmp_path)
    assert outcome(run) == ("no_changes", None)
    assert cursor(memory) == 2
    assert_untouched(memory)


def test_a_child_that_finds_nothing_consumes_what_it_read(memory, tmp_path):
    run = run_with(memory, "finds_nothing", tmp_path)
    assert outcome(run) == ("no_changes", None)
    assert cursor(memory) == 2
    assert_untouched(memory)


@pytest.mark.parametrize("behaviour", ["gives_no_evidence", "names_foreign_evidence"])
def test_a_system_line_without_a_user_entry_waits_for_a_person(memory, tmp_path, behaviour):
    run = run_with(memory, behaviour, tmp_path)
    assert outcome(run) == ("awaiting_review", None)
    assert run.settlement is not None
    assert [each["code"] for each in run.settlement.findings] == ["no_user_evidence"]
    repo = memory.agent.repo
    assert git(repo, "rev-parse", f"refs/reflector/review/{run.id}").strip() == run.tip
    assert cursor(memory) == 2
    assert_untouched(memory)


def test_untracked_scratch_does_not_sink_a_good_commit_and_is_not_lost(memory, tmp_path):
    run = run_with(memory, "leaves_scratch", tmp_path)
    assert outcome(run) == ("merged", None)
    scratch = memory.agent.run(run.id) / "scratch" / "tmp_edit.py"
    assert scratch.read_text() == "print('scratch')\n"
    assert not (memory.agent.repo / "tmp_edit.py").exists()


def test_commits_of_a_run_whose_folder_is_gone_are_kept_under_a_backup_ref(memory, tmp_path):
    run = run_with(memory, "commits_then_deletes_its_worktree", tmp_path)
    kept = git(memory.agent.repo, "rev-parse", f"refs/reflector/backup/{run.id}").strip()
    assert (
        git(memory.agent.repo, "log", "-1", "--format=%s", kept) == "feat(reflection): a lesson\n"
    )


def test_a_run_that_a_person_stops_is_cancelled_and_leaves_nothing(memory, tmp_path):
    talk = conversation(tmp_path / "talk.jsonl", "Keep it short, please.", "I will.")
    child = (sys.executable, str(CHILDREN), "waits_for_ever")

    class StopsOnceItWaits(QuietWatch):
        def stop(self) -> bool:
            return "waiting" in self.lines

    done = reflect(memory, Options(files=[talk]), StopsOnceItWaits(), child)
    (run,) = done.runs
    assert outcome(run) == ("cancelled", "interrupted")
    assert done.interrupted
    assert cursor(memory) == 0
    assert_untouched(memory)


def test_a_failed_conversation_can_be_reflected_on_again(memory, tmp_path):
    assert outcome(run_with(memory, "dies", tmp_path)) == ("failed", "child_exit")
    assert outcome(run_with(memory, "learns", tmp_path)) == ("merged", None)
    assert cursor(memory) == 2
