"""What the child's commit tool refuses, and what of it stays in history."""

from __future__ import annotations

import pytest

from reflector.core.ambient import system
from reflector.core.errors import DocumentError
from reflector.runtime.child import WorktreeCommit
from reflector.vcs import worktree
from tests.support.payloads import payload
from tests.support.repos import RUN, Repo, door, fresh

TOKEN = "ghp_" + "A1b2C3d4E5" * 4
TEXT = "---\ndescription: where the token is\n---\n{}\n"


class Said:
    text = "reference/token.md: where it is"
    evidence = ()


@pytest.fixture
def at_work(tmp_path):
    repo = fresh(tmp_path / "memory")
    place = worktree.planned(repo.path, tmp_path / "worktrees", 1, RUN, repo.sha())
    worktree.create(door(repo), place)
    return Repo(place.path), WorktreeCommit(payload(repo, place), place, system())


def test_a_commit_that_would_be_refused_says_why(at_work):
    tree, commit = at_work
    tree.write({"reference/token.md": TEXT.format(TOKEN)})
    with pytest.raises(DocumentError, match="secret") as caught:
        commit("feat", "the token", [Said()])
    assert TOKEN not in str(caught.value)


def test_a_secret_that_was_repaired_is_in_no_commit(at_work):
    tree, commit = at_work
    base = tree.sha()
    tree.write({"reference/token.md": TEXT.format(TOKEN)})
    with pytest.raises(DocumentError):
        commit("feat", "the token", [Said()])
    tree.write({"reference/token.md": TEXT.format("in the vault")})
    tip = commit("feat", "the token", [Said()])
    assert tree.git("rev-list", f"{base}..HEAD") == tip
    assert TOKEN not in tree.git("log", "-p")
    tree.write({"reference/token.md": TEXT.format("in the other vault")})
    assert tree.git("rev-parse", f"{commit('fix', 'moved', [Said()])}^") == tip
