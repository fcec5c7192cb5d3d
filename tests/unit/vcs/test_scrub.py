"""No configuration and no environment of the person changes any result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reflector.core.errors import GitError
from reflector.vcs import merge, porcelain
from reflector.vcs.merge import Integrated
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed
from reflector.vcs.writes import Writes
from tests.support.repos import WHEN, Repo, bringing, door, fresh, scrubbed

_HOSTILE = """\
[merge]
\tff = only
[commit]
\tgpgSign = true
[tag]
\tgpgSign = true
[user]
\tsigningKey = nobody
[core]
\thooksPath = {hooks}
\tautocrlf = true
\texcludesFile = {ignore}
[init]
\ttemplateDir = {template}
\tdefaultBranch = trunk
[status]
\tshowUntrackedFiles = no
[gpg]
\tprogram = /bin/false
"""


def _failing_hook(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text('#!/bin/sh\ntouch "$HOME/a-hook-ran"\nexit 1\n')
    place.chmod(0o755)


@pytest.fixture
def hostile(guarded: Path) -> Path:
    """Give the person a configuration with everything that has ever broken a tool."""
    hooks, template = guarded / "hooks", guarded / "template"
    for name in (
        "pre-commit",
        "commit-msg",
        "post-checkout",
        "reference-transaction",
        "post-merge",
    ):
        _failing_hook(hooks / name)
        _failing_hook(template / "hooks" / name)
    ignore = guarded / ".config/git/ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("*.md\n")
    places = {"hooks": hooks, "template": template, "ignore": ignore}
    (guarded / ".gitconfig").write_text(_HOSTILE.format(**places))
    return guarded


def _lived(path: Path) -> tuple[Repo, str, str]:
    """Go once through init, a worktree, a commit and a merge; return the repository and its ends."""
    porcelain.init(scrubbed(), path)
    repo = Repo(path)
    repo.write({"system/a.md": "one\n"})
    git = Porcelain(scrubbed(), path)
    git.commit_paths("chore(init): a memory", ["system/a.md"], WHEN)
    base = repo.git("rev-parse", "main")
    tree = path.parent / "tree"
    git.worktree_add(tree, "memory/x", base)
    (tree / "system/a.md").write_text("two\n")
    (tree / "system/b.md").write_text("b\n")
    with Writes(tree, path / ".git/worktrees/tree") as writes:
        assert writes.status().untracked == ("system/b.md",)
        identity = git._scrubbed.identity
        tip = writes.commit_worktree("memory/x", base, ["system"], "fix: x\n", identity, WHEN)
    job = bringing(base, tip)
    done = merge.integrate(git, job, save_merge=lambda _: None, sleep=lambda _: None)
    assert isinstance(done, Integrated)
    return repo, base, done.sha


def test_no_setting_of_the_person_changes_any_result(tmp_path, hostile):
    (hostile / ".gitconfig").rename(hostile / "aside")
    plain, *wanted = _lived(tmp_path / "plain" / "memory")
    (hostile / "aside").rename(hostile / ".gitconfig")
    repo, *got = _lived(tmp_path / "hostile" / "memory")
    assert got == wanted
    assert not (hostile / "a-hook-ran").exists()
    assert not (repo.path / ".git/hooks").exists()
    assert (repo.path / "system/a.md").read_bytes() == b"two\n"
    assert (repo.path / "system/b.md").read_bytes() == b"b\n"
    assert repo.git("log", "-1", "--format=%an <%ae> %cn %ct") == (
        f"Reflector <reflector@localhost> Reflector {int(WHEN.timestamp())}"
    )
    plain.assert_sound()
    repo.assert_sound()


_LIBRARY = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from reflector.vcs.port import Identity
from reflector.vcs.writes import Writes

with Writes(Path(sys.argv[1])) as writes:
    print(*writes.status().untracked)
    tip = writes.head().sha
    print(writes.commit_worktree("main", tip, ["system"], "m", Identity(), datetime.now(UTC)))
"""


def test_no_setting_of_the_person_reaches_the_library_in_a_new_process(tmp_path, hostile):
    (hostile / ".gitconfig").rename(hostile / "aside")
    repo = fresh(tmp_path / "memory", {"README": "r\n"})
    (hostile / "aside").rename(hostile / ".gitconfig")
    (repo.path / "system").mkdir()
    (repo.path / "system/crlf.md").write_bytes(b"one\r\n")
    done = subprocess.run(
        [sys.executable, "-c", _LIBRARY, str(repo.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    untracked, tip = done.stdout.split()
    assert untracked == "system/crlf.md"
    (hostile / ".gitconfig").unlink()
    blob = subprocess.run(
        ["git", "cat-file", "blob", f"{tip}:system/crlf.md"],
        cwd=repo.path,
        capture_output=True,
        check=True,
    )
    assert blob.stdout == b"one\r\n"


def test_settings_of_the_repository_itself_cannot_stop_our_commits(tmp_path):
    repo = fresh(tmp_path / "memory")
    for name, value in (("commit.gpgSign", "true"), ("merge.ff", "only"), ("gpg.program", "false")):
        repo.git("config", name, value)
    repo.write({"system/a.md": "two\n"})
    door(repo).commit_paths("chore: two", ["system/a.md"], WHEN)
    assert repo.git("log", "-1", "--format=%s") == "chore: two"


def test_hooks_in_the_repository_itself_do_not_run(tmp_path, guarded):
    repo = fresh(tmp_path / "memory")
    for name in ("reference-transaction", "post-checkout"):
        _failing_hook(repo.path / ".git/hooks" / name)
    tip = repo.sha()
    door(repo).worktree_add(tmp_path / "tree", "memory/x", tip)
    door(repo).update_ref("refs/reflector/kept/x", tip, None)
    assert not (guarded / "a-hook-ran").exists()


@pytest.mark.parametrize(
    "names", [("GIT_DIR",), ("GIT_INDEX_FILE",), ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")]
)
def test_an_inherited_repository_is_never_touched(tmp_path, monkeypatch, names):
    victim, repo = fresh(tmp_path / "victim"), fresh(tmp_path / "memory", {"system/a.md": "1\n"})
    base = repo.sha()
    tip = repo.branch_with("memory/x", {"system/a.md": "2\n"})
    before, refs = victim.everything(), victim.git("for-each-ref")
    places = {
        "GIT_DIR": victim.path / ".git",
        "GIT_WORK_TREE": victim.path,
        "GIT_INDEX_FILE": victim.path / ".git/index",
    }
    with monkeypatch.context() as inherited:
        for name in names:
            inherited.setenv(name, str(places[name]))
        inherited.setenv("GIT_CONFIG_COUNT", "1")
        inherited.setenv("GIT_CONFIG_KEY_0", "core.bare")
        inherited.setenv("GIT_CONFIG_VALUE_0", "true")
        git = Porcelain(Scrubbed(dict(os.environ)), repo.path)
        git.worktree_add(tmp_path / "tree", "memory/y", base)
        job = bringing(base, tip)
        done = merge.integrate(git, job, save_merge=lambda _: None, sleep=lambda _: None)
        assert isinstance(done, Integrated)
    assert (victim.everything(), victim.git("for-each-ref")) == (before, refs)
    assert (repo.path / "system/a.md").read_text() == "2\n"
    assert repo.status() == ""


def test_a_git_process_sees_nothing_but_what_we_give_it(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.setenv("GIT_SSH_COMMAND", "evil")
    monkeypatch.setenv("A_SECRET", "value")
    monkeypatch.setenv("GIT_PYTHON_GIT_EXECUTABLE", "/bin/false")
    given = Scrubbed(dict(os.environ))
    alias = ["-c", "alias.show-env=!env", "show-env"]
    code, out, err = porcelain.run(given, tmp_path, alias)
    assert (code, err) == (0, "")
    seen = dict(line.split("=", 1) for line in out.decode().splitlines())
    assert {"GIT_TRACE", "GIT_SSH_COMMAND", "A_SECRET", "GIT_DIR"}.isdisjoint(seen)
    assert (seen["HOME"], seen["LC_ALL"], seen["GIT_TERMINAL_PROMPT"]) == ("/dev/null", "C", "0")


def test_a_lost_git_folder_does_not_lead_into_the_repository_around_it(tmp_path):
    outer = fresh(tmp_path / "outer")
    inner = fresh(outer.path / "memory")
    tip = inner.sha()
    (inner.path / ".git").rename(tmp_path / "aside")
    with pytest.raises(GitError, match="no usable git repository"):
        Reads(inner.path)
    with pytest.raises(GitError):
        door(inner).update_ref("refs/heads/x", tip, None)
    assert outer.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_worktree_of_another_repository_is_refused(tmp_path):
    one, two = fresh(tmp_path / "one"), fresh(tmp_path / "two")
    door(one).worktree_add(tmp_path / "tree", "memory/x", one.sha())
    with pytest.raises(GitError, match="another repository"):
        Reads(tmp_path / "tree", two.path / ".git/worktrees/tree")


def test_a_machine_without_git_gets_a_clear_error(tmp_path):
    (tmp_path / "env").symlink_to("/usr/bin/env")
    for given in ({"PATH": str(tmp_path)}, {"PATH": str(tmp_path / "nothing")}):
        with pytest.raises(GitError, match=r"git (was not found|could not be started)"):
            porcelain.git_version(Scrubbed(given))


@pytest.mark.parametrize(
    ("says", "sentence"),
    [("git version 2.31.9", "too old"), ("hello", "does not tell")],
)
def test_a_git_that_is_too_old_is_refused(tmp_path, says, sentence):
    fake = tmp_path / "git"
    fake.write_text(f"#!/bin/sh\necho '{says}'\n")
    fake.chmod(0o755)
    with pytest.raises(GitError, match=sentence):
        porcelain.git_version(Scrubbed({"PATH": f"{tmp_path}:/usr/bin:/bin"}))


def test_the_git_of_this_machine_will_do():
    assert porcelain.git_version(scrubbed()) >= (2, 32, 0)


def test_a_git_that_hangs_is_ended_gently(tmp_path, monkeypatch):
    fake = tmp_path / "git"
    fake.write_text(
        f"#!/bin/sh\ntrap 'touch {tmp_path}/ended; kill $!; exit 1' TERM\n"
        f"touch {tmp_path}/begun\nsleep 50 &\nwait\n"
    )
    fake.chmod(0o755)
    for seconds in (0.2, 2, 8):  # a busy machine may not even have begun
        monkeypatch.setattr(porcelain, "TIMEOUT_SECONDS", seconds)
        with pytest.raises(GitError, match="longer than"):
            porcelain.run(Scrubbed({"PATH": f"{tmp_path}:/usr/bin:/bin"}), tmp_path, ["status"])
        if (tmp_path / "begun").exists():
            break
    assert (tmp_path / "ended").exists()
