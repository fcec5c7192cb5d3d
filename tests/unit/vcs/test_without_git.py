"""What is done without starting git: exactly what git would have done, or left to git."""

from __future__ import annotations

import os
import subprocess
import sys

import pygit2
import pytest

from reflector.core.errors import GitError
from reflector.vcs import merge, worktree
from reflector.vcs.merge import Integrated, Refused
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Inspected, Worktree
from reflector.vcs.writes import Writes
from tests.support.repos import RUN, Repo, bringing, fresh, scrubbed


class _Counting(Porcelain):
    """Writes down which git commands are started."""

    def __init__(self, repo: Repo) -> None:
        super().__init__(scrubbed(), repo.path)
        self.started: list[str] = []

    def _run(self, words, extra=None):
        self.started.append(words[0])
        return super()._run(words, extra)


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(
        tmp_path / "memory", {"system/a.md": "one\n", "system/ü.md": "ü\r\n", "run.sh": "x"}
    )


@pytest.fixture
def git(repo) -> _Counting:
    return _Counting(repo)


@pytest.fixture
def mine(repo, tmp_path) -> Worktree:
    return worktree.planned(repo.path, tmp_path / "worktrees", 1, RUN, repo.sha())


def test_a_small_worktree_comes_and_goes_without_starting_git(repo, git, mine):
    worktree.create(git, mine)
    assert repo.git("worktree", "list", "--porcelain").count("worktree ") == 2
    inside = Repo(mine.path)
    assert inside.status() == ""
    assert inside.git("symbolic-ref", "HEAD") == f"refs/heads/{mine.branch}"
    assert (mine.path / "system/ü.md").read_bytes() == "ü\r\n".encode()
    worktree.close(git, mine, mine.base)
    assert git.started == []
    assert not mine.path.exists()
    assert repo.git("worktree", "list").count("\n") == 0
    assert repo.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    repo.assert_sound()


@pytest.mark.parametrize(
    ("name", "value"),
    [("core.autocrlf", "true"), ("core.eol", "crlf"), ("filter.x.smudge", "sed s/one/two/"),
     ("core.attributesFile", "odd"), ("include.path", "odd")],
)  # fmt: skip
def test_settings_that_change_what_a_checkout_writes_are_left_to_git(repo, git, mine, name, value):
    repo.git("config", name, value)
    worktree.create(git, mine)
    assert git.started == ["worktree"]
    assert (mine.path / "system/a.md").read_bytes() == b"one\n"


_CREATE = """
import sys
from pathlib import Path
from reflector.vcs import worktree
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.scrub import Scrubbed

repo, folder = map(Path, sys.argv[1:3])
git = Porcelain(Scrubbed({"PATH": "/no/git/here"}), repo)
worktree.create(git, worktree.planned(repo, folder, 1, *sys.argv[3:]))
"""


def test_no_setting_and_no_hook_of_the_person_reaches_a_checkout_without_git(repo, mine, guarded):
    hook = guarded / "hooks/post-checkout"
    hook.parent.mkdir()
    hook.write_text('#!/bin/sh\ntouch "$HOME/a-hook-ran"\n')
    hook.chmod(0o755)
    (guarded / ".gitconfig").write_text(
        f"[core]\n\tautocrlf = true\n\thooksPath = {hook.parent}\n\tattributesFile = {hook}\n"
    )
    words = [str(repo.path), str(mine.path.parent), RUN, mine.base]
    subprocess.run(
        [sys.executable, "-c", _CREATE, *words], check=True
    )  # the library reads HOME once
    assert (mine.path / "system/a.md").read_bytes() == b"one\n"
    assert not (guarded / "a-hook-ran").exists()


def test_a_large_worktree_is_left_to_git(repo, git, mine, monkeypatch):
    monkeypatch.setattr(worktree, "_SMALL_INDEX", (repo.path / ".git/index").stat().st_size - 1)
    worktree.create(git, mine)
    assert git.started == ["worktree"]
    found = worktree.inspect(repo.path, mine)
    assert isinstance(found, Inspected)
    assert found.disposable


def test_a_checkout_that_fails_half_way_leaves_nothing_behind(git, mine, monkeypatch):
    def torn(_reads, path, *_given):
        path.mkdir()
        mine.git_dir.mkdir(parents=True)
        raise GitError("No space left on device")

    monkeypatch.setattr(Writes, "add_worktree", torn)
    worktree.create(git, mine)
    assert git.started == ["worktree"]
    assert Repo(mine.path).status() == ""


def test_a_failed_library_checkout_takes_its_own_branch_back(repo, mine):
    mine.path.mkdir(parents=True)
    with Writes(repo.path) as writes, pytest.raises(GitError):
        writes.add_worktree(mine.path, mine.branch, mine.base)
    assert repo.git("branch", "--list", "memory/*") == ""


def test_a_worktree_that_somebody_locked_stays(repo, git, mine):
    worktree.create(git, mine)
    repo.git("worktree", "lock", str(mine.path))
    with pytest.raises(GitError):
        worktree.close(git, mine, mine.base)
    assert (mine.path / "system/a.md").exists()


def test_a_folder_that_belongs_to_another_worktree_is_not_removed(git, mine, tmp_path):
    worktree.create(git, mine)
    other = fresh(tmp_path / "other")
    (mine.path / ".git").write_text(f"gitdir: {other.path}/.git\n")
    with pytest.raises(GitError):
        worktree.close(git, mine, mine.base)
    assert (mine.path / "system/a.md").exists()


def test_an_untouched_memory_follows_a_merge_by_two_git_commands(repo, git):
    base = repo.sha()
    tip = repo.branch_with(
        "memory/x", {"system/a.md": "two\n", "facts/n.md": "n\n", "run.sh": None}
    )
    assert _integrated(git, base, tip)
    assert git.started == ["read-tree", "update-index"]
    assert repo.git("log", "-1", "-g", "--format=%gn <%ge> %gs", "main") == (
        f"Reflector <reflector@localhost> reflector: {RUN}"
    )
    assert repo.git("log", "-1", "-g", "--format=%gs", "HEAD") == f"reflector: {RUN}"
    assert repo.status() == ""
    repo.assert_sound()


def test_new_files_are_written_as_git_would_write_them(repo, git):
    base = repo.commit({".gitattributes": "*.bat eol=crlf\n*.md eol=lf\n"})
    repo.write({"go.sh": "#!/bin/sh\n", "x.bat": "x\n", "部屋/é b.md": "b\n"})
    (repo.path / "go.sh").chmod(0o755)
    tip = repo.commit({})
    repo.git("reset", "-q", "--hard", base)
    assert _integrated(git, base, tip)
    assert "checkout-index" not in git.started
    assert (repo.path / "x.bat").read_bytes() == b"x\r\n"
    assert (repo.path / "部屋/é b.md").read_bytes() == b"b\n"
    assert os.access(repo.path / "go.sh", os.X_OK)
    assert repo.status() == ""


@pytest.mark.parametrize(
    ("name", "setting"), [("n.md", "core.eol"), (os.fsdecode(b"n\xff.md"), "x.plain")]
)
def test_settings_and_names_that_the_library_might_not_honour_are_left_to_git(
    repo, git, name, setting
):
    base = repo.sha()
    tip = repo.commit({name: "n\n"})
    repo.git("reset", "-q", "--hard", base)
    repo.git("config", setting, "crlf")
    assert _integrated(git, base, tip)
    assert "checkout-index" in git.started
    assert (repo.path / name).read_bytes() == b"n\n"


def test_a_file_saved_again_is_read_and_not_taken_for_a_change(repo, git):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    os.utime(repo.path / "system/a.md", (1, 1))
    assert _integrated(git, base, tip)
    assert repo.status() == ""


@pytest.mark.parametrize(
    "meddle",
    [
        lambda repo: repo.write({"system/a.md": "won\n"}),
        lambda repo: (repo.write({"system/a.md": "won\n"}), repo.git("add", "system/a.md")),
        lambda repo: (repo.path / "system/a.md").chmod(0o755),
        lambda repo: repo.git("update-index", "--chmod=+x", "system/a.md"),
        lambda repo: repo.git("rm", "-q", "--cached", "system/a.md"),
        lambda repo: repo.write({"facts/n.md": "in the way\n"}),
        lambda repo: repo.write({"facts": "in the way\n"}),
        lambda repo: (repo.path / "facts").symlink_to(repo.path / "system"),
    ],
)
def test_a_persons_work_is_never_taken_for_free(repo, git, meddle):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n", "facts/n.md": "n\n"})
    meddle(repo)
    before = repo.everything()
    done = merge.integrate(
        git, bringing(base, tip), save_merge=lambda _: None, sleep=lambda _: None
    )
    assert isinstance(done, Refused)
    assert repo.everything() == before
    with Reads(repo.path) as reads:
        paths = ("system/a.md", "facts/n.md")
        assert not reads.surely_free(paths, repo.path / ".git/index", base)


def test_an_unmerged_index_is_left_to_git(repo):
    blob = repo.git("rev-parse", "HEAD:run.sh")
    repo.git("rm", "-q", "--cached", "run.sh")
    with Reads(repo.path) as reads:
        assert reads.surely_free(["system/a.md"], repo.path / ".git/index", repo.sha())
    stages = "".join(f"100644 {blob} {stage}\trun.sh\n" for stage in (1, 2, 3))
    (repo.path / ".git/stages").write_text(stages)
    with (repo.path / ".git/stages").open() as given:
        words = ["git", "update-index", "--index-info"]
        subprocess.run(words, stdin=given, cwd=repo.path, check=True)
    with Reads(repo.path) as reads:
        assert not reads.surely_free(["system/a.md"], repo.path / ".git/index", repo.sha())


def test_a_link_that_would_come_with_a_merge_is_refused_and_main_stays(repo, git):
    base = repo.sha()
    (repo.path / "link").symlink_to("run.sh")
    tip = repo.commit({}, "a link")
    repo.git("reset", "-q", "--hard", base)
    job = bringing(base, tip)
    done = merge.integrate(git, job, save_merge=lambda _: None, sleep=lambda _: None)
    assert isinstance(done, Refused)
    assert "link" in done.detail
    assert repo.sha() == base
    assert not (repo.path / "link").exists()


def test_a_sparse_memory_is_left_to_git(repo, git):
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "two\n"})
    repo.git("config", "core.sparseCheckout", "false")
    assert _integrated(git, base, tip)
    assert git.started == [*["read-tree"] * 3, "checkout-index", "update-index"]


def test_a_ref_moves_without_git_only_from_where_it_is_known_to_be(repo):
    old = repo.sha()
    new = repo.commit({"system/a.md": "2\n"})
    lock = repo.path / ".git/refs/heads/main.lock"
    with Writes(repo.path) as writes:
        assert not writes.move_ref("refs/heads/main", old, new)
        assert not writes.move_ref("refs/heads/none", old, new)
        assert not writes.move_ref("refs/heads/main", old, None)
        lock.write_bytes(b"")
        assert not writes.move_ref("refs/heads/main", new, old)
        lock.unlink()
        assert repo.sha("main") == new
        assert writes.move_ref("refs/heads/main", new, old)
    assert repo.sha("main") == old


def test_a_ref_that_moves_between_look_and_lock_is_not_overrun(repo, monkeypatch):
    old = repo.sha()
    ours, theirs = (repo.branch_with(name, {"n.md": f"{name}\n"}) for name in ("ours", "theirs"))

    real = pygit2.Oid

    def oid(*, hex: str) -> pygit2.Oid:  # noqa: A002 - the library's own name
        if hex == ours:  # the last thing before the move itself
            repo.git("update-ref", "refs/heads/main", theirs)
        return real(hex=hex)

    monkeypatch.setattr("reflector.vcs.writes.pygit2.Oid", oid)
    with Writes(repo.path) as writes:
        assert not writes.move_ref("refs/heads/main", old, ours)
    assert repo.sha("main") == theirs


def _integrated(git: Porcelain, base: str, tip: str) -> bool:
    job = bringing(base, tip)
    done = merge.integrate(git, job, save_merge=lambda _: None, sleep=lambda _: None)
    return isinstance(done, Integrated)
