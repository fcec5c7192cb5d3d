"""Many files written at once are flushed once, and give the tree that they would give one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reflector.memory.tree import FILE
from reflector.vcs.objects import Objects
from tests.support.repos import Repo, fresh


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return fresh(tmp_path / "memory", {"a.md": "one\n"})


@pytest.fixture
def bulks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note each time that things are written in bulk."""
    found: list[bool] = []
    whole = Objects.in_bulk

    @contextmanager
    def noted(objects: Objects) -> Iterator[None]:
        with whole(objects):
            found.append(True)
            yield

    monkeypatch.setattr(Objects, "in_bulk", noted)
    return found


@pytest.mark.parametrize(("count", "times"), [(1, 0), (200, 0), (201, 1)])
def test_a_change_of_many_files_is_flushed_once(repo: Repo, bulks, count: int, times: int):
    files = {f"entries/{n}.json": (FILE, b"%d" % n) for n in range(count)}
    with Objects(repo.path) as objects:
        tree = objects.tree_with(repo.git("rev-parse", "HEAD^{tree}").strip(), files)
    assert len(bulks) == times
    listed = repo.git("ls-tree", "-r", "--name-only", tree, "entries/").split()
    assert sorted(listed) == sorted(files)
    assert repo.git("cat-file", "blob", f"{tree}:entries/{count - 1}.json") == str(count - 1)
    repo.assert_sound()
