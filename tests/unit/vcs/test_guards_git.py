"""Which repository git changes, and that a refused merge leaves no trace in main's own log."""

from __future__ import annotations

import pytest

from reflector.core.errors import GitError
from reflector.vcs import merge
from reflector.vcs.merge import Refused
from tests.support.repos import bringing, door, fresh


def test_git_changes_no_repository_further_up(tmp_path):
    outer = fresh(tmp_path / "outer", {"outer.md": "outer\n"})
    inner = fresh(outer.path / "memory")
    (inner.path / ".git").rename(tmp_path / "aside")
    with pytest.raises(GitError):
        door(inner).update_ref("refs/heads/x", outer.sha(), None)
    assert outer.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_merge_that_git_would_refuse_never_moves_main_at_all(tmp_path):
    repo = fresh(tmp_path / "memory")
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    # Only git itself sees this one: the library trusts the flag.
    repo.git("update-index", "--skip-worktree", "system/a.md")
    repo.write({"system/a.md": "mine\n"})
    done = merge.integrate(
        door(repo), bringing(base, tip), save_merge=lambda _: None, sleep=lambda _: None
    )
    assert isinstance(done, Refused)
    assert (repo.path / "system/a.md").read_text() == "mine\n"
    assert repo.git("reflog", "show", "main", "--format=%gs").count("\n") == 0
