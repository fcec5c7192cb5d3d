"""Homes in which runs die, what a person or the next turns do then, and the judgement."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from reflector.core.ambient import Ambient
from reflector.core.run import Run
from reflector.core.schedule import Settled
from reflector.runtime import birth, log
from reflector.runtime.front import handle
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import REFLECTION, Quiet, drain
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.sweep import sweep
from reflector.runtime.wiring import Context, context
from reflector.vcs import merge
from reflector.vcs.merge import Integration
from reflector.vcs.porcelain import Porcelain
from tests.support.auditor import audit, git, rows
from tests.support.kill_at import Nursery
from tests.support.scenes import Shifted
from tests.support.transcripts import conversation

LESSON = "Always use tabs in Makefiles."
HUMAN = "system/human.md"
TURN = 600.0


@dataclass(frozen=True)
class Mortal:
    """A home with one conversation that nobody has reflected on. Every step counts as a turn."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def repo(self) -> Path:
        return self.now().agent.repo

    def now(self, seconds: float = 0) -> Context:
        """What a command would work with, so many seconds from now."""
        found = context(str(self.home))
        return replace(found, ambient=Ambient(Shifted(seconds), found.ambient.chance))

    def says(self, *texts: str, session: str) -> Path:
        """Journal another conversation."""
        talk = conversation(self.folder / f"{session}.jsonl", *texts, session=session)
        ingest(self.now(), talk, Quiet())
        return talk

    def killed(self, nursery: Nursery, point: str, start: str) -> tuple[int, str]:
        """Start a run that dies at a point; return how its supervisor ended, and what it said."""
        words: tuple[str | Path, ...] = ("reflect", "--home", self.home)
        if start == "event":
            handle(self.now(), Settled(success=True), None)
            words = ("loop", self.home, "default")
        return nursery.run(point, self.home, *words)

    def recovered(self, how: str) -> list[Run]:
        """Do what a person, or the next turns of an agent, would do."""
        if how == "reflect":
            return list(reflect(self.now(), Options(), Quiet()).runs)
        done: list[Run] = []
        for turn in range(1, 4):
            found = self.now(TURN * turn)
            if handle(found, Settled(success=True), ("true",)).supervisor != "none":
                done += drain(found, REFLECTION, Quiet()) or []
        return done

    def merged(self) -> int:
        """Return how many runs were merged."""
        state = self.repo.parent / "state.db"
        return len(rows(state, "SELECT id FROM runs WHERE outcome = 'merged'"))

    def judge(self, *lessons: str, merges: int = 1) -> None:
        """Assert everything of ENGINE 15, each lesson exactly once, and the number of merges."""
        self.judge_all(*lessons)
        assert git(self.repo, "rev-list", "--merges", "--count", "main") == b"%d\n" % merges

    def judge_all(self, *lessons: str) -> None:
        """Assert everything of ENGINE 15, and each lesson exactly once."""
        found = self.now(3600)
        with log.opened(found.agent.log, identity="default") as logger:
            receipts = sweep(found, logger, dry_run=False)
        assert all(each.removed for each in receipts), receipts
        audit(self.home, transcripts=self.folder.glob("*.jsonl"))
        learned = git(self.repo, "show", f"main:{HUMAN}").decode()
        times = {each: learned.count(each.rstrip(".")) for each in lessons}
        assert set(times.values()) <= {1}, f"learned so many times: {times}"
        dirty = git(self.repo, "status", "--porcelain", "--untracked-files=all").decode()
        assert dirty == "", f"the memory is not clean: {dirty}"


@contextmanager
def guarded() -> Iterator[None]:
    """Take away what the guards of a test take away: fixtures of a session begin before them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [each for each in os.environ if each.startswith(("REFLECTOR_", "GIT_"))]:
            patch.delenv(name)
        yield


def made(folder: Path) -> Mortal:
    """Make the first one; others are copies of it."""
    talk = conversation(folder / "talk.jsonl", LESSON, "Noted.")
    birth.init(context(str(folder / "home")))
    (folder / "home" / "config.toml").write_text("[trigger]\nstep_count = 1\n", "utf-8")
    ingest(context(str(folder / "home")), talk, Quiet())
    return Mortal(folder)


def copied(first: Mortal, folder: Path) -> Mortal:
    shutil.copytree(first.folder, folder, dirs_exist_ok=True, symlinks=True)
    return Mortal(folder)


def hooked(mortal: Mortal, event: str, talk: Path) -> None:
    """Append what a hook would to the spool."""
    fields = {
        "time": "1.0",
        "harness": "claude-code",
        "event": event,
        "session_id": talk.stem,
        "transcript_path": str(talk),
        "cwd": "/",
    }
    with (mortal.home / "spool" / "2026-11-30.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def aged(place: Path, seconds: float) -> None:
    """Make a file or folder older than it is."""
    then = place.lstat().st_mtime - seconds
    os.utime(place, (then, then), follow_symlinks=False)


def dying_at(step: str, work: Callable[[], object]) -> None:
    """Change main in a process of its own that dies at a step of `merge`."""
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        return
    try:

        def dying(git: Porcelain, job: Integration, **named: Any) -> None:
            for reached in merge.steps(git, job, **named):
                if reached == step:
                    os._exit(0)

        pytest.MonkeyPatch().setattr(merge, "integrate", dying)
        work()
    finally:
        os._exit(1)
