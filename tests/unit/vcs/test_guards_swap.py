"""What a person writes after git has looked is found again, and main stays where it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflector.vcs import merge
from reflector.vcs.merge import Refused
from reflector.vcs.porcelain import Porcelain
from tests.support.repos import Repo, bringing, door, fresh

CHANGED = "system/a.md"


def _merged_while(repo: Repo, asked: str, then: Callable[[], object]) -> Refused:
    """Let a person do something right after git has answered a question."""
    base = repo.sha()
    tip = repo.branch_with("memory/x", {CHANGED: "two\n", "new.md": "n\n"})
    answer: Callable[..., None] = getattr(Porcelain, asked)

    def answered(*given: Any) -> None:
        answer(*given)
        then()

    job = bringing(base, tip)
    walk = merge.steps(door(repo), job, save_merge=lambda _: None, sleep=lambda _: None)
    while next(walk) != "moved":
        pass
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Porcelain, asked, answered)
        with pytest.raises(StopIteration) as end:
            next(walk)
    refused = end.value.value
    assert isinstance(refused, Refused)
    assert repo.sha("main") == base
    return refused


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return fresh(tmp_path / "memory")


@pytest.mark.parametrize("asked", ["may_follow", "check_out"])
def test_what_a_person_saves_when_git_has_already_looked_is_kept(repo, asked):
    place = repo.path / CHANGED
    assert CHANGED in _merged_while(repo, asked, lambda: place.write_text("mine\n")).paths
    assert place.read_text() == "mine\n"
    assert repo.status() == f" M {CHANGED}"


def test_what_an_editor_writes_into_the_old_file_comes_back_under_its_name(repo):
    with (repo.path / CHANGED).open("ab", buffering=0) as editor:
        _merged_while(repo, "refresh", lambda: editor.write(b"mine\n"))
    assert (repo.path / CHANGED).read_text() == "one\nmine\n"
    assert repo.status() == f" M {CHANGED}"
