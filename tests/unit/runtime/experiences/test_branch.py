"""The branch of a segment is told only when nothing speaks against it."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import stamp
from reflector.runtime.experiences.branch import branch_at

THEN = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return wrote(tmp_path, "ref: refs/heads/fix/the-bar\n")


def wrote(project: Path, text: str, folder: str = ".git") -> Path:
    head = project / folder / "HEAD"
    head.write_text(text)
    os.utime(head, (THEN.timestamp(), THEN.timestamp()))
    return project


def told(project: Path, minutes: float) -> str:
    return branch_at(str(project), stamp(THEN + timedelta(minutes=minutes)))


def test_the_branch_is_what_head_said_before_the_segment_ended(project):
    assert told(project, 5) == "fix/the-bar"
    (project / "deep").mkdir()
    assert told(project / "deep", 5) == "fix/the-bar"


def test_a_head_that_was_written_later_says_nothing_about_then(project):
    assert told(project, -5) == ""


@pytest.mark.parametrize("head", ["4f1c" * 10, "", "ref: refs/tags/v1"])
def test_no_branch_is_none(project, head):
    assert told(wrote(project, head), 5) == ""


def test_a_worktree_has_a_branch_of_its_own(project, tmp_path):
    git = project / ".git" / "worktrees" / "wt"
    git.mkdir(parents=True)
    wrote(project, "ref: refs/heads/other\n", ".git/worktrees/wt")
    (tmp_path / "wt").mkdir()
    (tmp_path / "wt" / ".git").write_text(f"gitdir: {git}\n")
    assert told(tmp_path / "wt", 5) == "other"


def test_where_there_is_no_repository_there_is_no_branch(tmp_path):
    assert branch_at(str(tmp_path), stamp(THEN)) == ""
    assert branch_at("", stamp(THEN)) == ""
    assert branch_at("relative", stamp(THEN)) == ""
    assert branch_at(str(tmp_path), "") == ""
