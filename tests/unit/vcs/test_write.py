"""A change that no run made lands like a merge: at once, over nobody's work, and through any death."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

from reflector.core.errors import RefMovedError
from reflector.vcs import index_lock, merge
from reflector.vcs.merge import Adopt, Files, Integrated, Integration, Refused, Step, Write
from reflector.vcs.objects import Objects
from tests.support.repos import RUN, TOKEN, WHEN, Repo, door, fresh

STEPS = ("planned", "locked", "checked", "saved", "moved", "followed")
FILES: Files = {
    "system/a.md": (0o100644, b"two\n"),
    "system/b.md": None,
    "new/n.md": (0o100644, b"n\n"),
    "skills/x/scripts/s.sh": (0o100755, b"#!\n"),
}


@pytest.fixture
def repo(tmp_path) -> Repo:
    return fresh(tmp_path / "memory", {"system/a.md": "one\n", "system/b.md": "b\n", "c.md": "c\n"})


def writing(repo: Repo, files: Files = FILES) -> Integration:
    message = f"a reason\n\nReflector-Write: {RUN}\n"
    return Integration(Write(repo.sha(), files), message, WHEN, RUN, TOKEN)


def adopting(repo: Repo, *paths: str) -> Integration:
    found = {path: repo.path / path for path in paths}
    files = {
        path: (0o100644, place.read_bytes()) if place.exists() else None
        for path, place in found.items()
    }
    message = f"edit\n\nReflector-Adopt: {RUN}\n"
    return Integration(Adopt(repo.sha(), files), message, WHEN, RUN, TOKEN)


def steps(repo: Repo, job: Integration) -> Generator[Step, None, Integrated | Refused]:
    return merge.steps(door(repo), job, save_merge=lambda _: None, sleep=lambda _: None)


def integrate(repo: Repo, job: Integration) -> Integrated | Refused:
    given: dict[str, Any] = {"save_merge": lambda _: None, "sleep": lambda _: None}
    return merge.integrate(door(repo), job, **given)


def dead_at(repo: Repo, job: Integration, step: str) -> None:
    """Run to a step in a process of its own that then dies at once."""
    pid = os.fork()
    if pid == 0:
        walk = steps(repo, job)
        while next(walk) != step:
            pass
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def leftovers(repo: Repo) -> list[str]:
    return [
        f.name for f in (repo.path / ".git").iterdir() if "lock" in f.name or "reflector" in f.name
    ]


def mended(repo: Repo, job: Integration) -> str | None:
    """Do what the next holder of the memory-write lock does; return the commit that landed."""
    landed = merge.landed(door(repo), job)
    if landed is None:
        index_lock.release(repo.path / ".git", RUN, TOKEN)
    elif index_lock.our_index_lock(repo.path / ".git", RUN, TOKEN):
        old = repo.sha(f"{landed}^")
        assert isinstance(merge.finish_follow(door(repo), job, old, landed), Integrated)
    assert leftovers(repo) == []
    return landed


def assert_written(repo: Repo) -> None:
    assert repo.status() == ""
    assert (repo.path / "system/a.md").read_text() == "two\n"
    assert not (repo.path / "system/b.md").exists()
    assert (repo.path / "new/n.md").read_text() == "n\n"
    assert os.access(repo.path / "skills/x/scripts/s.sh", os.X_OK)
    repo.assert_sound()


def test_a_change_is_one_commit_with_one_parent_and_the_files_follow(repo):
    base = repo.sha()
    done = integrate(repo, writing(repo))
    assert isinstance(done, Integrated)
    assert repo.sha("main") == done.sha
    assert repo.git("log", "-1", "--format=%P") == base
    assert set(done.changed) == set(FILES)
    assert_written(repo)
    assert leftovers(repo) == []


def test_a_change_worked_out_on_an_older_main_is_never_written_over_a_newer_one(repo):
    job = writing(repo)
    repo.commit({"system/a.md": "a person's\n"})
    before = repo.everything()
    with pytest.raises(RefMovedError):
        integrate(repo, job)
    assert repo.everything() == before
    assert leftovers(repo) == []


def test_a_commit_of_a_person_before_the_lock_is_not_written_over(repo):
    walk = steps(repo, writing(repo))
    assert next(walk) == "planned"
    repo.commit({"system/a.md": "a person's\n"})
    with pytest.raises(RefMovedError):
        list(walk)
    assert repo.git("show", "main:system/a.md") == "a person's"
    assert leftovers(repo) == []


@pytest.mark.parametrize("path", ["system/a.md", "new/n.md"])
def test_uncommitted_work_in_the_way_refuses_and_stays(repo, path):
    repo.write({path: "mine\n"})
    before = repo.everything()
    done = integrate(repo, writing(repo))
    assert isinstance(done, Refused)
    assert done.paths == (path,)
    assert repo.everything() == before


def test_an_edit_in_the_window_moves_main_back_and_is_kept(repo):
    base = repo.sha()
    walk = steps(repo, writing(repo))
    while next(walk) != "moved":
        pass
    repo.write({"system/a.md": "mine\n"})
    with pytest.raises(StopIteration) as end:
        next(walk)
    assert isinstance(end.value.value, Refused)
    assert repo.sha("main") == base
    assert (repo.path / "system/a.md").read_text() == "mine\n"
    assert not (repo.path / "new/n.md").exists()


@pytest.mark.parametrize("step", STEPS)
def test_a_write_that_died_at_any_step_is_whole_or_not_there(repo, step):
    job, before = writing(repo), repo.everything()
    dead_at(repo, job, step)
    if mended(repo, job) is None:
        assert step in STEPS[:4]
        assert repo.everything() == before
    else:
        assert_written(repo)


# Adoption


def edit(repo: Repo) -> dict[str, tuple[bytes, int]]:
    repo.write({"system/a.md": "mine\n", "system/new.md": "new\n"})
    (repo.path / "system/b.md").unlink()
    return files_of(repo)


def files_of(repo: Repo) -> dict[str, tuple[bytes, int]]:
    """Return content and inode of every working file: one that was rewritten has another."""
    return {
        str(file.relative_to(repo.path)): (file.read_bytes(), file.stat().st_ino)
        for file in repo.path.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(repo.path).parts
    }


def test_adopted_files_are_committed_and_never_touched(repo):
    base, before = repo.sha(), edit(repo)
    repo.write({"c.md": "not taken\n"})
    before["c.md"] = (b"not taken\n", before["c.md"][1])
    done = integrate(repo, adopting(repo, "system/a.md", "system/b.md", "system/new.md"))
    assert isinstance(done, Integrated)
    assert repo.git("log", "-1", "--format=%P", "main") == base
    assert repo.status() == " M c.md"
    assert files_of(repo) == before
    repo.assert_sound()


def test_a_file_that_changes_after_the_look_is_only_changed_again(repo):
    edit(repo)
    job = adopting(repo, "system/a.md")
    repo.write({"system/a.md": "newer\n"})
    assert isinstance(integrate(repo, job), Integrated)
    assert repo.git("show", "main:system/a.md") == "mine"
    assert (repo.path / "system/a.md").read_text() == "newer\n"
    assert " M system/a.md" in repo.status()


def test_nothing_is_adopted_while_something_is_staged(repo):
    edit(repo)
    repo.git("add", "system/new.md")
    before = repo.everything()
    done = integrate(repo, adopting(repo, "system/a.md"))
    assert isinstance(done, Refused)
    assert done.paths == ("system/new.md",)
    assert repo.everything() == before


@pytest.mark.parametrize("step", STEPS)
def test_an_adoption_that_died_at_any_step_leaves_the_files_alone(repo, step):
    before = edit(repo)
    job = adopting(repo, "system/a.md", "system/b.md", "system/new.md")
    dead_at(repo, job, step)
    if step == "moved":  # a file that is cut back meanwhile looks like one that was half written
        repo.write({"system/a.md": "mi"})
        before["system/a.md"] = (b"mi", before["system/a.md"][1])
    landed = mended(repo, job)
    assert files_of(repo) == before
    assert (landed is None) == (step in STEPS[:4])
    if landed is not None:
        assert repo.status() == (" M system/a.md" if step == "moved" else "")
    repo.assert_sound()


def test_a_tree_is_written_and_nothing_else(repo):
    before = repo.everything()
    with Objects(repo.path) as objects:
        tree = objects.tree_with(repo.sha("HEAD^{tree}"), FILES)
    listed = repo.git("ls-tree", "-r", "--format=%(objectmode) %(path)", tree).split("\n")
    assert listed == [
        *("100644 c.md", "100644 new/n.md"),
        *("100755 skills/x/scripts/s.sh", "100644 system/a.md"),
    ]
    assert repo.everything() == before
