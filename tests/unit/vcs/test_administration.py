"""A repository's administration is compared by meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.vcs import worktree
from reflector.vcs.administration import Allowed, compare, main_moved_fairly, take
from reflector.vcs.port import Administration
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Worktree
from tests.support.repos import RUN, Repo, door, fresh


@pytest.fixture
def repo(tmp_path) -> Repo:
    made = fresh(tmp_path / "memory")
    worktree.create(door(made), _mine(made))
    return made


def _mine(repo: Repo) -> Worktree:
    return worktree.planned(repo.path, repo.path.parent / "worktrees", 1, RUN, repo.sha("main"))


def _take(repo: Repo) -> Administration:
    mine = _mine(repo)
    return take(repo.path, mine.path, mine.git_dir)


def _differs(
    repo: Repo, before: Administration, base: str, *, others: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    after, mine = _take(repo), _mine(repo)
    with Reads(repo.path) as reads:
        tip = reads.resolve(f"refs/heads/{mine.branch}") or base
    fair = main_moved_fairly(repo.path, before, after, base, tip)
    return compare(before, after, Allowed(mine.branch, others, fair))


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def _hook(repo: Repo) -> None:
    _append(repo.path / ".git/hooks/pre-commit", "#!/bin/sh\n")


_TREE = f".git/worktrees/1-{RUN}"


@pytest.mark.parametrize(
    ("meddle", "named"),
    [
        (lambda r: r.git("config", "core.hooksPath", "/tmp/x"), "config:core.hookspath"),
        (lambda r: r.git("config", "--add", "filter.x.clean", "evil"), "config:filter.x.clean"),
        (lambda r: r.git("config", "core.bare", "true"), "config:core.bare"),
        (lambda r: _append(r.path / ".git/config", "[broken\n"), "repository"),
        (_hook, "hooks/pre-commit"),
        (
            lambda r: _append(r.path / ".git/objects/info/alternates", "/tmp\n"),
            "objects/info/alternates",
        ),
        (lambda r: _append(r.path / ".git/info/exclude", "*\n"), "info/exclude"),
        (lambda r: _append(r.path / ".git/info/attributes", "* filter=x\n"), "info/attributes"),
        (lambda r: _append(r.path / ".git/info/grafts", f"{r.sha()}\n"), "info/grafts"),
        (lambda r: _append(_mine(r).path / ".git", "\n"), "worktree:.git"),
        (lambda r: (_mine(r).path / ".git").unlink(), "worktree:.git"),
        (lambda r: _append(r.path / _TREE / "commondir", "/x"), "worktree:commondir"),
        (lambda r: _append(r.path / _TREE / "gitdir", "/x"), "worktree:gitdir"),
        (lambda r: _append(r.path / _TREE / "config.worktree", "x"), "worktree:config.worktree"),
        (lambda r: r.git("symbolic-ref", "HEAD", "refs/heads/other"), "HEAD"),
        (lambda r: r.git("branch", "other"), "ref:refs/heads/other"),
        (lambda r: r.git("tag", "v1"), "ref:refs/tags/v1"),
        (lambda r: r.git("update-ref", "refs/replace/" + r.sha(), r.sha()), "ref:refs/replace/"),
        (lambda r: r.git("update-ref", "refs/stashed", "HEAD"), "ref:refs/stashed"),
        (lambda r: r.git("update-ref", "-d", "refs/heads/main"), "ref:refs/heads/main"),
    ],
)
def test_what_a_run_must_leave_alone_is_named(repo, meddle, named):
    before, base = _take(repo), repo.sha()
    main = _mine(repo)
    meddle(repo)
    after = take(repo.path, main.path, main.git_dir)
    fair = main_moved_fairly(repo.path, before, after, base, base)
    (found,) = compare(before, after, Allowed(main.branch, frozenset(), fair))[-1:]
    assert found.startswith(named)


def test_a_hook_that_becomes_executable_is_named(repo):
    _hook(repo)
    before = _take(repo)
    (repo.path / ".git/hooks/pre-commit").chmod(0o755)
    assert _differs(repo, before, repo.sha()) == ("hooks/pre-commit",)


def test_nothing_differs_when_nothing_happened(repo):
    before = _take(repo)
    assert len(before.facts) > 8
    assert _differs(repo, before, repo.sha()) == ()


def test_a_hand_commit_and_a_packing_during_a_run_are_no_difference(repo):
    before, base = _take(repo), repo.sha()
    Repo(_mine(repo).path).commit({"system/a.md": "the run's\n"})
    repo.commit({"system/b.md": "by hand\n"})
    repo.git("gc", "-q", "--prune=now")
    repo.git("update-server-info")
    repo.git("update-ref", "refs/remotes/origin/main", base)
    repo.write({"system/b.md": "stashed\n"})
    repo.git("stash", "-q")
    assert _differs(repo, before, base) == ()


def test_a_reordered_configuration_is_no_difference(repo):
    before = _take(repo)
    config = repo.path / ".git/config"
    config.write_text("# a comment\n[user]\n\tNAME=x\n" + config.read_text())
    repo.git("config", "--unset", "user.name")
    assert _differs(repo, before, repo.sha()) == ()


def test_main_that_took_in_a_commit_of_the_run_is_named(repo):
    before, base = _take(repo), repo.sha()
    tip = Repo(_mine(repo).path).commit({"system/a.md": "the run's\n"})
    repo.git("update-ref", "refs/heads/main", tip)
    mine = _mine(repo)
    after = take(repo.path, mine.path, mine.git_dir)
    fair = main_moved_fairly(repo.path, before, after, base, tip)
    assert compare(before, after, Allowed(mine.branch, frozenset(), fair)) == (
        "ref:refs/heads/main",
    )


def test_main_that_went_back_is_named(tmp_path):
    repo = fresh(tmp_path / "memory")
    old = repo.sha()
    base = repo.commit({"system/a.md": "2\n"})
    worktree.create(door(repo), _mine(repo))
    before = _take(repo)
    repo.git("update-ref", "refs/heads/main", old)
    assert _differs(repo, before, base) == ("ref:refs/heads/main",)


def test_refs_that_another_run_recorded_may_differ(repo):
    before, base = _take(repo), repo.sha()
    repo.git("update-ref", "refs/reflector/kept/other", base)
    assert _differs(repo, before, base) == ("ref:refs/reflector/kept/other",)
    assert _differs(repo, before, base, others=frozenset({"refs/reflector/kept/other"})) == ()
