"""A run's worktree, opened, inspected, closed; refs moved by compare-and-set."""

from __future__ import annotations

import shutil

import pytest

from reflector.core.errors import GitError, RefMovedError
from reflector.vcs import porcelain, worktree
from reflector.vcs.port import ref_name
from reflector.vcs.worktree import Inspected, Missing, Worktree
from tests.support.repos import RUN, WHEN, Repo, door, fresh, scrubbed


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "memory")


@pytest.fixture
def mine(repo, tmp_path) -> Worktree:
    return worktree.planned(repo.path, tmp_path / "worktrees", 1, RUN, repo.sha())


def _branches(repo: Repo) -> list[str]:
    return repo.git("branch", "--list", "memory/*", "--format=%(refname:short)").split()


def test_a_worktree_is_made_inspected_and_closed(repo, mine):
    worktree.create(door(repo), mine)
    assert mine.path.name == f"1-{RUN}"
    assert _branches(repo) == [f"memory/reflection-1-{RUN}"]
    found = worktree.inspect(repo.path, mine)
    assert isinstance(found, Inspected)
    assert (found.head.branch, found.head.sha, found.tip) == (mine.branch, mine.base, mine.base)
    assert found.disposable
    worktree.close(door(repo), mine, mine.base)
    assert not mine.path.exists()
    assert _branches(repo) == []
    assert repo.git("worktree", "list").count("\n") == 0
    worktree.close(door(repo), mine, mine.base)


def test_untracked_and_ignored_files_make_it_not_disposable(repo, mine):
    repo.commit({".gitignore": "state\n"})
    repo.git("config", "status.showUntrackedFiles", "no")
    worktree.create(door(repo), Worktree(mine.path, mine.git_dir, mine.branch, repo.sha()))
    (mine.path / "state").write_text("ignored")
    found = worktree.inspect(repo.path, mine)
    assert isinstance(found, Inspected)
    assert found.status.clean
    assert found.ignored == ("state",)
    assert not found.disposable
    (mine.path / "scratch").write_text("untracked")
    with pytest.raises(GitError, match="could not remove"):
        door(repo).worktree_remove(mine.path)
    assert (mine.path / "scratch").exists()


def test_a_run_that_went_to_another_branch_is_told_apart(repo, mine):
    worktree.create(door(repo), mine)
    inside = Repo(mine.path)
    inside.git("checkout", "-q", "-b", "other")
    stray = inside.commit({"system/a.md": "stray\n"})
    found = worktree.inspect(repo.path, mine)
    assert isinstance(found, Inspected)
    assert (found.head.branch, found.head.sha, found.tip) == ("other", stray, mine.base)


def test_a_folder_in_the_way_leaves_no_branch_and_a_retry_works(repo, mine):
    mine.path.mkdir(parents=True)
    (mine.path / "something").write_text("in the way")
    with pytest.raises(GitError) as error:
        worktree.create(door(repo), mine)
    assert "already exists" in str(error.value.facts["detail"])
    assert _branches(repo) == []
    assert (mine.path / "something").exists()
    shutil.rmtree(mine.path)
    worktree.create(door(repo), mine)


def test_a_branch_with_commits_survives_a_failed_creation(repo, mine):
    kept = repo.branch_with(mine.branch, {"system/a.md": "earlier\n"})
    with pytest.raises(GitError):
        worktree.create(door(repo), mine)
    assert repo.sha(mine.branch) == kept


def test_only_the_stale_registration_of_this_very_path_is_dropped(repo, mine, tmp_path):
    unmounted = tmp_path / "a-persons-disk"
    repo.git("worktree", "add", "-q", "-b", "theirs", str(unmounted))
    shutil.rmtree(unmounted)
    worktree.create(door(repo), mine)
    shutil.rmtree(mine.path)
    repo.git("update-ref", "-d", f"refs/heads/{mine.branch}")
    worktree.create(door(repo), mine)
    assert str(unmounted) in repo.git("worktree", "list")
    assert mine.git_dir.is_dir()


@pytest.mark.parametrize("committed", [False, True])
def test_a_deleted_folder_is_missing_with_its_tip_known(repo, mine, committed):
    worktree.create(door(repo), mine)
    tip = Repo(mine.path).commit({"system/a.md": "two\n"}) if committed else mine.base
    shutil.rmtree(mine.path)
    found = worktree.inspect(repo.path, mine)
    assert isinstance(found, Missing)
    assert found.tip == tip
    if committed:
        with pytest.raises(RefMovedError):
            worktree.close(door(repo), mine, mine.base)
        assert repo.sha(mine.branch) == tip
    worktree.close(door(repo), mine, tip)
    assert _branches(repo) == []


def test_a_redirected_link_is_not_followed(repo, mine, tmp_path):
    worktree.create(door(repo), mine)
    other = fresh(tmp_path / "other")
    (mine.path / ".git").write_text(f"gitdir: {other.path}/.git\n")
    assert isinstance(worktree.inspect(repo.path, mine), Missing)


def test_refs_move_by_compare_and_set_only(repo):
    git, old = door(repo), repo.sha()
    new = repo.commit({"system/a.md": "2\n"})
    git.update_ref("refs/reflector/kept/x", old, None)
    with pytest.raises(RefMovedError):
        git.update_ref("refs/reflector/kept/x", new, None)
    with pytest.raises(RefMovedError):
        git.update_ref("refs/reflector/kept/x", new, new)
    with pytest.raises(RefMovedError):
        git.update_ref("refs/reflector/none", new, old)
    with pytest.raises(RefMovedError):
        git.delete_ref("refs/reflector/kept/x", new)
    git.update_ref("refs/reflector/kept/x", new, old)
    assert repo.sha("refs/reflector/kept/x") == new
    git.delete_ref("refs/reflector/kept/x", new)
    assert repo.git("for-each-ref", "refs/reflector") == ""


def test_a_locked_ref_is_no_moved_ref(repo):
    git, old = door(repo), repo.sha()
    new = repo.commit({"system/a.md": "2\n"})
    (repo.path / ".git/refs/heads/main.lock").write_bytes(b"")
    with pytest.raises(GitError) as error:
        git.update_ref("refs/heads/main", old, new)
    assert not isinstance(error.value, RefMovedError)
    assert "main.lock" in str(error.value.facts["detail"])


@pytest.mark.parametrize(
    "name",
    ["main", "-d", "refs/heads/", "refs/heads/a..b", "refs/heads/a b", "refs/heads/.x", "refs//x",
     "refs/heads/x.lock", "refs/heads/x.lock/y", "refs/heads/x.", "refs/heads/@{1}", "refs/h\n"],
)  # fmt: skip
def test_a_ref_name_that_git_might_misread_is_refused(name, repo):
    with pytest.raises(GitError):
        door(repo).update_ref(name, repo.sha(), None)


def test_ref_names_that_we_write_pass():
    for name in (
        "refs/heads/main",
        f"refs/heads/memory/reflection-1-{RUN}",
        "refs/reflector/kept/x",
    ):
        assert ref_name(name) == name


def test_init_makes_a_main_branch_with_a_first_commit_and_pinned_settings(tmp_path):
    repo = Repo(tmp_path / "memory")
    porcelain.init(scrubbed(), repo.path)
    repo.write({"system/größe x.md": "g\n", "README.md": "r\n", "own.txt": "not ours\n"})
    git = door(repo)
    git.commit_paths(
        "chore(init): a memory\n\nTrailer: x", ["system/größe x.md", "README.md"], WHEN
    )
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert repo.git("rev-list", "--count", "HEAD") == "1"
    assert repo.status() == "?? own.txt"
    assert repo.git("log", "-1", "--format=%ct") == str(int(WHEN.timestamp()))
    assert repo.git("config", "--local", "core.autocrlf") == "false"
    assert repo.git("config", "--local", "core.hooksPath") == "/dev/null"
    assert repo.git("config", "--local", "gc.auto") == "0"
    repo.assert_sound()
    with pytest.raises(GitError, match="already"):
        porcelain.init(scrubbed(), repo.path)


def test_maintenance_keeps_the_repository_sound(repo):
    door(repo).maintain()
    assert list((repo.path / ".git/objects/pack").glob("*.pack"))
    repo.assert_sound()
