"""Refs move to a history written anew; a person's work outlives it byte for byte."""

from __future__ import annotations

import os

import pytest

from reflector.core.errors import BusyError, ParentDirtyError, RefMovedError
from reflector.core.needle import passages
from reflector.memory.purge import Purge
from reflector.vcs.objects import Objects
from reflector.vcs.port import MAIN
from reflector.vcs.prune import prune
from reflector.vcs.replace import Replacement, catch_up, replace
from reflector.vcs.rewrite import Rewriter
from tests.support.repos import Repo, door, fresh, scrubbed

PURGE = Purge(passages(["Falcon"]))
STEPS = ("locked", "checked", "moved", "followed")


@pytest.fixture
def repo(tmp_path) -> Repo:
    made = fresh(tmp_path / "memory", {"a.md": "one\nFalcon\n", "b.md": "b\n", "c.md": "c\n"})
    made.commit({"d.md": "d\n"})
    made.branch_with("memory/x", {"e.md": "Falcon\n"})
    made.git("update-ref", "refs/reflector/kept/r", "memory/x")
    return made


def _job(repo: Repo) -> Replacement:
    with Objects(repo.path) as objects:
        rewriter = Rewriter(objects, PURGE)
        refs = {
            ref: (repo.sha(ref), rewriter.target(repo.sha(ref)))
            for ref in (MAIN, "refs/heads/memory/x", "refs/reflector/kept/r")
        }
    return Replacement(refs, "memory forget", "t" * 32)


def _never(_seconds: float) -> None:
    raise AssertionError


def _all(repo: Repo, job: Replacement) -> list[str]:
    return list(replace(door(repo), job, lambda _: None))


def test_every_ref_moves_and_index_and_files_follow(repo):
    job = _job(repo)
    assert tuple(_all(repo, job)) == STEPS
    assert {ref: repo.sha(ref) for ref in job.refs} == {
        ref: new for ref, (_, new) in job.refs.items()
    }
    assert (repo.path / "a.md").read_text("utf-8") == "one\n"
    assert repo.status() == ""
    assert not list((repo.path / ".git").glob("*lock*"))
    assert not list((repo.path / ".git").glob("reflector*"))
    repo.assert_sound()


def test_work_on_other_paths_stays_staged_or_not(repo):
    repo.write({"b.md": "b\nmine\n", "c.md": "c\nstaged\n", "new.md": "new\n"})
    repo.git("add", "c.md")
    before = repo.status()
    _all(repo, _job(repo))
    assert repo.status() == before
    assert (repo.path / "b.md").read_text("utf-8") == "b\nmine\n"
    assert repo.git("show", ":c.md") == "c\nstaged"


@pytest.mark.parametrize("staged", [True, False])
def test_work_in_the_way_refuses_before_anything_moves(repo, staged):
    repo.write({"a.md": "one\nFalcon\nmine\n"})
    if staged:
        repo.git("add", "a.md")
    job, before = _job(repo), repo.everything()
    with pytest.raises(ParentDirtyError, match=r"a\.md"):
        _all(repo, job)
    assert repo.everything() == before
    assert {ref: repo.sha(ref) for ref in job.refs} == {
        ref: old for ref, (old, _) in job.refs.items()
    }
    assert not (repo.path / ".git/index.lock").exists()


def test_a_ref_that_moved_meanwhile_is_not_overwritten(repo):
    job = _job(repo)
    newer = repo.commit({"z.md": "z\n"}, "meanwhile")
    with pytest.raises((RefMovedError, ParentDirtyError)):
        _all(repo, job)
    assert repo.sha() == newer


def test_a_person_cannot_commit_in_the_window(repo):
    for step in replace(door(repo), _job(repo), lambda _: None):
        (repo.path / "b.md").write_text(f"{step}\n", "utf-8")
        assert repo.attempt("commit", "-am", "mine").returncode != 0
    assert repo.attempt("commit", "-qam", "mine").returncode == 0


@pytest.mark.parametrize("last", STEPS)
def test_whoever_dies_at_a_step_is_caught_up_with(repo, last):
    job = _job(repo)
    walk = replace(door(repo), job, lambda _: None)
    for step in walk:
        if step == last:
            break
    # The dead let nothing go: what `close` would do is what a kill does not.
    lock = repo.path / ".git/index.lock"
    held = lock.read_bytes()
    walk.close()
    lock.write_bytes(held)
    catch_up(door(repo), job, lambda _: None)
    again = _job(repo)
    _all(repo, again)
    assert (repo.path / "a.md").read_text("utf-8") == "one\n"
    assert repo.status() == ""
    assert repo.sha() == job.refs[MAIN][1]


def test_pruning_leaves_no_old_object_packed_kept_or_named_in_a_log(repo):
    repo.git("repack", "-q", "-a", "-d")
    for pack in (repo.path / ".git/objects/pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()
    blob = repo.sha("HEAD:a.md")
    old = repo.sha()
    _all(repo, _job(repo))
    repo.git("update-ref", "ORIG_HEAD", old)
    (repo.path / ".git/objects/pack/tmp_pack_x").write_bytes(b"half a pack")
    prune(scrubbed(), door(repo), _never)
    assert not (repo.path / ".git/objects/pack/tmp_pack_x").exists()
    everything = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert blob not in everything
    assert old not in everything
    assert repo.git("reflog", "show", "--all") == ""
    repo.assert_sound()


def test_a_collection_that_is_under_way_is_waited_for(repo):
    lock = repo.path / ".git/gc.pid"
    lock.write_text(f"{os.getpid()} {os.uname().nodename}", "utf-8")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            lock.unlink()

    prune(scrubbed(), door(repo), wait)
    assert len(waits) == 3
    lock.write_text(f"{os.getpid()} {os.uname().nodename}", "utf-8")
    with pytest.raises(BusyError, match="packing"):
        prune(scrubbed(), door(repo), lambda _: None)
