"""Objects with a secret that nobody needs leave the repository; all others stay."""

from __future__ import annotations

import time

import pytest

from reflector.core.redact import find_secrets
from reflector.vcs import expunge
from tests.support.repos import Repo, door, fresh
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "repo")


def purge(repo: Repo, since: float = 0) -> tuple[str, ...]:
    objects = expunge.written_since(repo.path / ".git", since)
    held = expunge.holding(objects, lambda text: bool(find_secrets(text)))
    return expunge.expunge(door(repo), objects, held)


def everything(repo: Repo) -> str:
    return repo.git("cat-file", "--batch-all-objects", "--batch")


def lose(repo: Repo, files: dict[str, str], message: str = "m") -> None:
    """Make commits that nothing names any more."""
    repo.branch_with("lost", files)
    tip = repo.git("commit-tree", "lost^{tree}", "-p", "lost", "-m", message)
    repo.git("update-ref", "refs/heads/lost", tip)
    repo.git("branch", "-D", "lost")


@pytest.mark.parametrize("where", ["content", "name", "message"])
def test_a_secret_in_a_lost_commit_goes(repo, where):
    name = f"reference/{TOKEN}.md" if where == "name" else "reference/a.md"
    lose(repo, {name: TOKEN if where == "content" else "x"}, TOKEN if where == "message" else "m")
    assert TOKEN in everything(repo)
    assert purge(repo)
    assert TOKEN not in everything(repo)
    repo.assert_sound()
    assert purge(repo) == ()


def test_what_is_lost_without_a_secret_stays(repo):
    lose(repo, {"reference/a.md": "harmless"})
    before = everything(repo)
    assert purge(repo) == ()
    assert everything(repo) == before


@pytest.mark.parametrize("kept", ["branch", "index", "reflog"])
def test_what_is_in_use_stays_even_with_a_secret(repo, kept):
    repo.write({"mine.md": TOKEN})
    repo.git("add", "mine.md")
    if kept == "branch":
        repo.git("commit", "-qm", "a person's own")
    if kept == "reflog":
        repo.git("commit", "-qm", "a person's own")
        repo.git("reset", "-q", "--hard", "HEAD^")
    before = everything(repo)
    assert purge(repo) == ()
    assert everything(repo) == before
    repo.assert_sound()


def test_older_objects_are_not_looked_at(repo):
    lose(repo, {"reference/a.md": TOKEN})
    assert purge(repo, time.time() + 60) == ()
    assert TOKEN in everything(repo)


def test_a_commit_on_top_of_one_with_a_secret_is_known(repo):
    first = repo.branch_with("run", {"reference/a.md": TOKEN})
    second = repo.branch_with("run2", {"reference/a.md": "gone"}, base=first)
    objects = expunge.written_since(repo.path / ".git", 0)
    held = expunge.holding(objects, lambda text: bool(find_secrets(text)))
    assert {first, second} <= held
    assert repo.sha() not in held
