"""A sweep packs the repository when that is worth it, and never beside a run (ENGINE 9.4, 13.4)."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import Ambient
from reflector.core.errors import GitError
from reflector.runtime import log, loop
from reflector.runtime.sweep import sweep, sweep_in_time
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.locks import Lock
from reflector.vcs.porcelain import Porcelain
from tests.support.clocks import WHEN, FakeChance, FakeClock
from tests.support.journals import ME, NOW, REQUEST
from tests.support.repos import RUN, Repo
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow


@pytest.fixture
def memory(tmp_path: Path) -> Context:
    return Scene(tmp_path).context()


@pytest.fixture
def repo(memory: Context) -> Repo:
    return Repo(memory.agent.repo)


def many(repo: Repo, name: str, count: int = 400) -> None:
    """Let so many objects lie about."""
    (repo.path / "reference" / name).mkdir(parents=True)
    for number in range(count):
        (repo.path / "reference" / name / f"{number}.md").write_text(f"{name} {number}", "utf-8")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", name)


def loose(repo: Repo) -> int:
    return int(repo.git("count-objects").split()[0])


def swept(memory: Context, minutes: float = 60) -> list[str]:
    """Sweep so long after the clock's first moment; return what was logged."""
    clock = FakeClock(WHEN + timedelta(minutes=minutes))
    with log.opened(memory.agent.log) as logger:
        sweep(replace(memory, ambient=Ambient(clock, FakeChance())), logger, dry_run=False)
    text = memory.agent.log.read_text("utf-8")
    return [line for line in text.splitlines() if log.CLEANUP_FAILED in line]


def test_many_loose_objects_are_packed(memory, repo):
    many(repo, "one")
    assert swept(memory) == []
    assert loose(repo) == 0
    assert repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict")


def test_a_few_are_left_alone(memory, repo):
    before = loose(repo)
    assert before > 0
    swept(memory)
    assert loose(repo) == before


def test_once_an_hour_is_enough(memory, repo):
    many(repo, "one")
    swept(memory)
    many(repo, "two")
    swept(memory, 119)
    assert loose(repo) > 180
    swept(memory, 120)
    assert loose(repo) == 0


def test_nothing_is_packed_beside_a_run(memory, repo):
    many(repo, "one")
    with memory.state() as state, state.transaction() as connection:
        reservations.reserve(connection, RUN, "reflection", REQUEST, (), ME, NOW)
    swept(memory)
    assert loose(repo) > 180


def test_it_happens_under_the_memory_write_lock(memory, repo, monkeypatch):
    seen = []

    def maintain(_git: Porcelain) -> None:
        seen.append(Lock(memory.agent.lock("memory")).take())

    monkeypatch.setattr(Porcelain, "maintain", maintain)
    many(repo, "one")
    swept(memory)
    assert seen == [False]


def test_a_git_that_cannot_pack_stops_no_sweep(memory, repo):
    many(repo, "one")
    (memory.agent.path / ".left.tmp").touch()
    old = (WHEN - timedelta(days=1)).timestamp()
    os.utime(memory.agent.path / ".left.tmp", (old, old))
    objects = repo.path / ".git" / "objects" / "pack"
    objects.rmdir()
    objects.write_text("a file where git wants its folder", "utf-8")
    (said,) = swept(memory)
    assert '"target": "repository"' in said
    assert not (memory.agent.path / ".left.tmp").exists()


def test_a_supervisor_sweeps_before_its_work_but_not_more_than_every_ten_minutes(
    memory, monkeypatch
):
    swept_at: list[str] = []
    monkeypatch.setattr(loop, "work_off", lambda *_words, **_more: swept_at.append("works"))
    monkeypatch.setattr(loop, "drain", lambda *_words, **_more: [])

    def watched(*words):
        swept_at.append(f"sweeps every {words[2]}")
        return sweep_in_time(*words)

    monkeypatch.setattr(loop, "sweep_in_time", watched)
    loop.main([str(memory.home.path), "default"])
    assert swept_at == ["sweeps every 0:10:00", "works", "sweeps every 1:00:00"]


def test_a_sweep_that_fails_keeps_no_supervisor_from_its_work(memory, monkeypatch):
    worked: list[str] = []

    def fails(*_words):
        raise GitError("no good")

    monkeypatch.setattr(loop, "sweep_in_time", fails)
    monkeypatch.setattr(loop, "work_off", lambda *_words, **_more: worked.append("works"))
    monkeypatch.setattr(loop, "drain", lambda *_words, **_more: [])
    assert loop.main([str(memory.home.path), "default"]) == 0
    assert worked[:1] == ["works"]
