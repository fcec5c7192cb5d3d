from __future__ import annotations

from reflector.vcs.tip import main_commit
from tests.support.repos import fresh


def test_the_commit_of_main_is_read_loose_and_packed(tmp_path):
    repo = fresh(tmp_path / "repo")
    assert main_commit(repo.path) == repo.sha("main")
    repo.git("pack-refs", "--all")
    assert main_commit(repo.path) == repo.sha("main")
    newer = repo.commit({"system/a.md": "two\n"})
    assert main_commit(repo.path) == newer


def test_what_is_not_plain_is_left_to_git(tmp_path):
    repo = fresh(tmp_path / "repo")
    ref = repo.path / ".git" / "refs" / "heads" / "main"
    ref.write_text("ref: refs/heads/other\n")
    assert main_commit(repo.path) is None
    ref.write_bytes(b"\xff" * 40)
    assert main_commit(repo.path) is None
    ref.unlink()
    assert main_commit(repo.path) is None
    assert main_commit(tmp_path / "nowhere") is None
