"""One bank for all clones, worktrees and folders of a project, and never one for two."""

from __future__ import annotations

import subprocess
from pathlib import Path

from reflector.runtime.banks import bank_of
from tests.support.repos import fresh


def test_worktrees_and_folders_of_a_repository_share_its_bank(tmp_path):
    repo = fresh(tmp_path / "shop", {"deep/a.txt": "a"})
    own = bank_of(repo.path)
    assert own.startswith("shop-")
    assert bank_of(repo.path / "deep") == own
    repo.git("worktree", "add", "-q", str(tmp_path / "other"))
    assert bank_of(tmp_path / "other") == own
    (tmp_path / "link").symlink_to(repo.path)
    assert bank_of(tmp_path / "link" / "deep") == own


def test_clones_share_a_bank_by_their_remote_whatever_its_form(tmp_path):
    one, two = fresh(tmp_path / "one"), fresh(tmp_path / "two")
    one.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    assert bank_of(one.path) != bank_of(two.path)
    two.git("remote", "add", "origin", "https://dev:t0ken@github.com/acme/shop")
    assert bank_of(one.path) == bank_of(two.path)
    assert bank_of(one.path).startswith("shop-")
    two.git("remote", "set-url", "origin", "https://github.com/acme/shop-2")
    assert bank_of(one.path) != bank_of(two.path)


def test_equal_names_of_folders_do_not_collide(tmp_path):
    for name in ("a", "b"):
        fresh(tmp_path / name / "app")
        (tmp_path / name / "plain").mkdir()
    for name in ("app", "plain"):
        one, two = (bank_of(tmp_path / each / name) for each in ("a", "b"))
        assert one != two
        assert one.startswith(f"{name}-")
        assert two.startswith(f"{name}-")


def test_no_folder_has_no_bank_and_odd_ones_stop_nothing(tmp_path):
    assert bank_of(None) == ""
    assert bank_of(Path("relative")) == ""
    assert bank_of(tmp_path / "nowhere").startswith("nowhere-")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_bytes(b"gitdir: \xff\0\n")
    assert bank_of(tmp_path / "odd").startswith("odd-")
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / ".git").symlink_to(tmp_path / "loop" / ".git")
    assert bank_of(tmp_path / "loop").startswith("loop-")


def test_a_submodule_has_a_bank_of_its_own(tmp_path):
    inner, outer = fresh(tmp_path / "inner"), fresh(tmp_path / "outer")
    words = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path)]
    subprocess.run(["git", *words, "sub"], cwd=outer.path, check=True)
    assert bank_of(outer.path / "sub") != bank_of(outer.path)
