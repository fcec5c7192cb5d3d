"""Git as it is out there: other people's settings, hooks, variables, half-finished operations."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.auditor import audit, parent, picture, rows
from tests.support.cli import ROOT, Cli, git
from tests.support.paused import Paused
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

RULE = "Always use tabs in Makefiles."
HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit"),
    *("post-merge", "post-checkout", "reference-transaction", "post-index-change", "post-rewrite"),
)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return conversation(tmp_path / "talk.jsonl", RULE, "Noted.")


def learned(cli: Cli) -> int:
    texts = [
        git(cli.repo, "show", f"main:{name}")
        for name in git(cli.repo, "ls-tree", "-r", "--name-only", "main").split()
    ]
    return sum(text.count(RULE.rstrip(".")) for text in texts)


def program(path: Path, canary: Path, code: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {path.name} >> '{canary}'\nexit {code}\n", "utf-8")
    path.chmod(0o755)
    return path


def hostile(folder: Path, canary: Path) -> str:
    """Return a configuration in which everything that can go wrong does."""
    for hook in HOOKS:
        program(folder / "hooks" / hook, canary, 1)
        program(folder / "template" / "hooks" / hook, canary, 1)
    bad = program(folder / "bad", canary, 1)
    (folder / "attributes").write_text("* filter=bad diff=bad merge=bad text=auto\n", "utf-8")
    (folder / "ignore").write_text("*\n", "utf-8")
    return f"""
[user]
    useConfigOnly = true
    signingKey = nobody
[core]
    hooksPath = {folder}/hooks
    autocrlf = true
    eol = crlf
    safecrlf = true
    fsmonitor = {bad}
    attributesFile = {folder}/attributes
    excludesFile = {folder}/ignore
    editor = {bad}
    pager = {bad}
    quotePath = true
    fileMode = false
    ignoreCase = true
    bare = true
[init]
    templateDir = {folder}/template
    defaultBranch = trunk
[merge]
    ff = only
    conflictStyle = diff3
[pull]
    rebase = true
[commit]
    gpgSign = true
    template = {folder}/ignore
[tag]
    gpgSign = true
[gpg]
    program = {bad}
    format = ssh
[filter "bad"]
    clean = {bad}
    smudge = {bad}
    required = true
[diff]
    external = {bad}
    noprefix = true
[diff "bad"]
    command = {bad}
    textconv = {bad}
[merge "bad"]
    driver = {bad} %A
[status]
    showUntrackedFiles = no
[log]
    showSignature = true
[color]
    ui = always
[extensions]
    objectFormat = sha256
[alias]
    commit = !{bad}
    update-ref = !{bad}
"""


@pytest.mark.parametrize("place", [".gitconfig", ".config/git/config"])
def test_a_persons_git_settings_change_no_result(guarded, tmp_path, talk, place):
    canary = tmp_path / "canary"
    settings = guarded / place
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(hostile(tmp_path / "hostile", canary), "utf-8")
    (guarded / ".config/git").mkdir(parents=True, exist_ok=True)
    (guarded / ".config/git/attributes").write_text("* filter=bad\n", "utf-8")
    (guarded / ".config/git/ignore").write_text("*\n", "utf-8")
    cli = Cli(tmp_path / "home")
    assert cli("init").code == 0
    done = cli("reflect", talk, "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["run"]["outcome"] == "merged"
    assert learned(cli) == 1
    assert b"\r" not in (cli.repo / "system" / "human.md").read_bytes()
    assert cli("status", "--json").json["memory"]["clean"] is True
    assert cli("prompt").code == 0
    assert cli("undo", done.json["run"]["id"]).code == 0
    assert not canary.exists()
    assert not (cli.repo / ".git" / "hooks").exists()
    audit(cli.home, transcripts=[talk])


def test_a_memory_with_hooks_of_its_own_never_runs_them(cli, tmp_path, talk):
    canary = tmp_path / "canary"
    for hook in HOOKS:
        program(cli.repo / ".git" / "hooks" / hook, canary, 1)
    assert cli("reflect", talk).code == 0
    assert learned(cli) == 1
    assert not canary.exists()
    audit(cli.home, transcripts=[talk])


def other_repo(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n", "utf-8")
    git(folder, "add", "a.txt")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "a.txt").write_text("two\n", "utf-8")
    (folder / "b.txt").write_text("staged\n", "utf-8")
    git(folder, "add", "b.txt")
    return folder


def test_variables_of_another_repository_lead_nobody_astray(tmp_path, talk):
    other = other_repo(tmp_path / "other")
    before = picture(other)
    dot_git = other / ".git"
    cli = Cli(
        tmp_path / "home",
        GIT_DIR=str(dot_git),
        GIT_COMMON_DIR=str(dot_git),
        GIT_WORK_TREE=str(other),
        GIT_INDEX_FILE=str(dot_git / "index"),
        GIT_OBJECT_DIRECTORY=str(dot_git / "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES=str(dot_git / "objects"),
        GIT_PREFIX="sub/",
        GIT_NAMESPACE="elsewhere",
        GIT_CONFIG_COUNT="2",
        GIT_CONFIG_KEY_0="core.bare",
        GIT_CONFIG_VALUE_0="true",
        GIT_CONFIG_KEY_1="core.hooksPath",
        GIT_CONFIG_VALUE_1=str(tmp_path),
        GIT_CONFIG_PARAMETERS="'merge.ff'='only'",
        GIT_AUTHOR_DATE="yesterday",
        GIT_LITERAL_PATHSPECS="1",
        GIT_TRACE=str(tmp_path / "trace"),
    )
    assert cli("init").code == 0
    done = cli("reflect", talk, "--json", cwd=other)
    assert done.code == 0, done.err
    assert done.json["run"]["outcome"] == "merged"
    assert cli("status", "--json", cwd=other).json["memory"]["clean"] is True
    assert learned(cli) == 1
    assert cli("undo", done.json["run"]["id"], cwd=other).code == 0
    assert learned(cli) == 0
    assert picture(other) == before
    audit(cli.home, transcripts=[talk])


def test_from_a_hook_of_another_repository_that_one_stays_as_it_is(cli, tmp_path, talk):
    other = other_repo(tmp_path / "other")
    seen = tmp_path / "seen"
    command = " ".join(["python", "-m", "reflector", "reflect", str(talk), "--home", str(cli.home)])
    copy = (
        f'cat .git/index "$GIT_INDEX_FILE" > "{tmp_path}/index.$1"; '
        f'git for-each-ref > "{tmp_path}/refs.$1"'
    )
    hook = other / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\nunset GIT_CONFIG_NOSYSTEM\n"
        f"keep() {{ {copy}; }}\nkeep before\n{command} > '{seen}' 2>&1 || exit 1\nkeep after\n",
        "utf-8",
    )
    hook.chmod(0o755)
    venv = Path(shutil.which("python", path=f"{ROOT}/.venv/bin:{os.environ['PATH']}") or "")
    subprocess.run(
        ["git", "commit", "-q", "-a", "-m", "with a hook"],
        cwd=other,
        env={**os.environ, "PATH": f"{venv.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=50,
    )
    assert "merged" in seen.read_text("utf-8")
    assert (tmp_path / "index.before").read_bytes() == (tmp_path / "index.after").read_bytes()
    assert (tmp_path / "refs.before").read_bytes() == (tmp_path / "refs.after").read_bytes()
    assert git(other, "log", "--format=%s") == "with a hook\nfirst\n"
    assert git(other, "status", "--porcelain") == ""
    assert learned(cli) == 1
    audit(cli.home, transcripts=[talk])


def commit(repo: Path, text: str, name: str = "system/human.md") -> str:
    (repo / name).write_text(f"---\ndescription: by hand\n---\n{text}\n", "utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", f"by hand: {text}")
    return git(repo, "rev-parse", "HEAD").strip()


def conflict(repo: Path, *words: str) -> None:
    """Begin an operation that stops at a conflict."""
    git(repo, "switch", "-q", "-c", "side")
    commit(repo, "side")
    git(repo, "switch", "-q", "main")
    commit(repo, "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, *words)


def merge_without_a_trace(repo: Path) -> None:
    """Leave MERGE_HEAD while `git status --porcelain` is empty."""
    git(repo, "switch", "-q", "-c", "side")
    commit(repo, "side", "reference/side.md")
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side")
    assert git(repo, "status", "--porcelain") == ""


def bisects(repo: Path) -> None:
    for each in range(3):
        commit(repo, f"{each}")
    git(repo, "bisect", "start", "main", "main~3")


OPERATIONS: dict[str, tuple[Callable[[Path], object], str]] = {
    "merge": (lambda repo: conflict(repo, "merge", "-q", "side"), "merge"),
    "clean merge": (merge_without_a_trace, "merge"),
    "rebase": (lambda repo: conflict(repo, "rebase", "-q", "side"), "rebase"),
    "cherry-pick": (lambda repo: conflict(repo, "cherry-pick", "side"), "cherry-pick"),
    "revert": (
        lambda repo: conflict(repo, "revert", "--no-edit", "HEAD~1", "HEAD"),
        "revert",
    ),
    "bisect": (bisects, "bisect"),
    "detached": (lambda repo: git(repo, "checkout", "-q", "--detach"), "no branch"),
    "other branch": (lambda repo: git(repo, "switch", "-q", "-c", "mine"), "on mine"),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_memory_that_a_person_is_busy_in_is_left_alone(cli, talk, operation):
    begin, named = OPERATIONS[operation]
    if operation == "revert":
        commit(cli.repo, "zero")
    begin(cli.repo)
    before = picture(cli.repo)
    done = cli("reflect", talk, "--json")
    assert done.code == 4, done.out
    run = done.json["run"]
    assert run["outcome"] == "parent_dirty"
    assert named in run["detail"]
    assert picture(cli.repo) == before
    assert not list((cli.repo.parent / "worktrees").iterdir())
    assert rows(cli.repo.parent / "state.db", "SELECT cursor FROM conversations")[0][0] == 0
    _end(cli.repo)
    again = cli("reflect", talk, "--json")
    assert (again.code, again.json["run"]["outcome"]) == (0, "merged")
    audit(cli.home, transcripts=[talk])


def _end(repo: Path) -> None:
    git(repo, "bisect", "reset")
    for words in (["merge", "--abort"], ["rebase", "--abort"], ["cherry-pick", "--abort"]):
        subprocess.run(["git", "-C", str(repo), *words], capture_output=True, check=False)
    subprocess.run(["git", "-C", str(repo), "revert", "--abort"], capture_output=True, check=False)
    git(repo, "switch", "-q", "main")


def test_an_operation_begun_while_a_run_works_is_not_disturbed(cli, talk):
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    paused.child()
    merge_head = cli.repo / ".git" / "MERGE_HEAD"
    (cli.repo / ".git" / "MERGE_MODE").write_text("no-ff", "utf-8")
    merge_head.write_text(git(cli.repo, "rev-parse", "main"), "utf-8")
    before = parent(cli.repo)
    paused.go_on()
    out, err = process.communicate(timeout=50)
    assert process.returncode == 4, err
    assert b'"outcome":"parent_dirty"' in out
    assert parent(cli.repo) == before
    merge_head.unlink()
    (cli.repo / ".git" / "MERGE_MODE").unlink()
    assert cli("reflect", "--json").json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk])


def test_main_that_was_reset_during_a_run_gets_no_merge_and_the_tip_is_kept(cli, talk):
    first = git(cli.repo, "rev-parse", "main").strip()
    commit(cli.repo, "one more", "reference/more.md")
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json")
    paused.child()
    git(cli.repo, "reset", "-q", "--hard", first)
    paused.go_on()
    out, err = process.communicate(timeout=50)
    assert process.returncode == 1, err
    assert b'"outcome":"merge_conflict"' in out
    assert b"before the run's base" in out
    assert git(cli.repo, "rev-parse", "main").strip() == first
    ((kept, tip),) = rows(cli.repo.parent / "state.db", "SELECT kept_ref, tip FROM runs")
    assert git(cli.repo, "rev-parse", kept).strip() == tip
    audit(cli.home, transcripts=[talk])
    assert cli("reflect", talk, "--json").json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk])


def test_a_working_directory_that_goes_away_during_a_run_does_not_matter(cli, tmp_path, talk):
    folder = tmp_path / "project"
    folder.mkdir()
    paused = Paused(cli.home)
    process = paused.start("reflect", talk, "--json", cwd=folder)
    paused.child()
    folder.rmdir()
    paused.go_on()
    out, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    assert b'"outcome":"merged"' in out
    audit(cli.home, transcripts=[talk])


def test_a_command_in_a_folder_that_is_gone_works(cli, tmp_path, talk):
    folder = tmp_path / "project"
    folder.mkdir()
    where = os.open(folder, os.O_RDONLY)
    folder.rmdir()
    try:
        done = cli("reflect", talk, "--json", cwd=None, preexec_fn=lambda: os.fchdir(where))
    finally:
        os.close(where)
    assert done.code == 0, done.err
    assert done.json["run"]["outcome"] == "merged"
    audit(cli.home, transcripts=[talk])


def test_a_foreign_index_lock_is_waited_for_and_never_taken_away(cli, talk):
    lock = cli.repo / ".git" / "index.lock"
    lock.touch()
    before = parent(cli.repo)
    done = cli("reflect", talk, "--json")
    assert done.code == 4, done.err
    assert done.json["run"]["outcome"] == "parent_dirty"
    assert "index.lock" in done.json["run"]["detail"]
    assert parent(cli.repo) == before
    run = done.json["run"]["id"]
    lock.unlink()
    again = cli("reflect", "--json")
    assert again.code == 0, again.err
    assert [(each["id"], each["outcome"]) for each in again.json["runs"]] == [(run, "merged")]
    assert learned(cli) == 1
    audit(cli.home, transcripts=[talk])
