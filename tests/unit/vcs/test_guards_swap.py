"""What a person writes after git has looked is found again, and main stays where it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import GitError
from reflector.vcs import merge
from reflector.vcs.merge import Refused
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.swap import Swap
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


def test_what_came_in_before_git_failed_goes_out_again(repo):
    def fails() -> None:
        raise GitError("git was ended at its deadline")

    before = repo.everything()
    _merged_while(repo, "refresh", fails)
    assert repo.everything() == before
    assert repo.status() == ""


def test_what_came_in_before_the_disk_was_full_goes_out_again(tmp_path, monkeypatch):
    root, fresh_ones = tmp_path / "root", tmp_path / "beside" / "new"
    for folder, content in ((root, b"old"), (fresh_ones, b"new")):
        folder.mkdir(parents=True)
        (folder / "a").write_bytes(content)
    (fresh_ones / "b").write_bytes(b"new")

    def full(*_given: Any, **_named: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space"):
        Swap(root, tmp_path / "beside", {"a": b"old", "b": None}).do()
    assert (root / "a").read_bytes() == b"old"
