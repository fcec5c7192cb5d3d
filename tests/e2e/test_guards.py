"""What the main job refuses to do, and what it does first, whatever its child is like."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from reflector.core.run import Phase, Run
from reflector.runtime.bench import planned
from reflector.runtime.ingest import ingest
from reflector.runtime.launch import environment
from reflector.runtime.reflect import Options, Reflected, reflect
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations
from reflector.store.locks import Lock
from reflector.vcs import worktree
from tests.support.guarded import bench, born, reserved
from tests.support.harness_rows import lines, user
from tests.support.journals import OTHER
from tests.support.repos import RUN, Repo, door
from tests.support.transcripts import conversation, extend
from tests.support.watching import QuietWatch

CHILDREN = Path(__file__).resolve().parents[1] / "support" / "children.py"
LEARNS = (sys.executable, str(CHILDREN), "learns")
HUMAN = "system/human.md"

pytestmark = pytest.mark.slow


@pytest.fixture
def memory(tmp_path) -> Context:
    return born(tmp_path)


@pytest.fixture
def repo(memory) -> Repo:
    return Repo(memory.agent.repo)


@pytest.fixture
def talk(tmp_path) -> Path:
    return conversation(tmp_path / "talk.jsonl", "Keep it short, please.", "I will.")


def reflected(memory: Context, *files: Path, watch: QuietWatch | None = None) -> Reflected:
    return reflect(memory, Options(files=files), watch or QuietWatch(), LEARNS)


def ledger(memory: Context) -> list[Run]:
    with memory.state() as state:
        return reservations.recent(state.connection, 99)


def cursor(memory: Context) -> int:
    with memory.state() as state:
        (only,) = journal.conversations(state.connection)
        return only.cursor


def outcomes(done: Reflected) -> list[str]:
    return [run.outcome.value if run.outcome else "" for run in done.runs]


class Impatient(QuietWatch):
    """Stops once it was told that there is something to wait for."""

    def stop(self) -> bool:
        return any("waiting" in line for line in self.lines)


def test_no_run_begins_beside_a_living_owner(memory, talk):
    presence = Lock(memory.agent.lock("run-reflection"))
    assert presence.take()
    done = reflected(memory, talk, watch=Impatient())
    assert done.interrupted
    assert ledger(memory) == []
    presence.release()
    assert outcomes(reflected(memory, talk)) == ["merged"]


@pytest.mark.parametrize(
    "meddle",
    [
        lambda repo: repo.git("update-ref", "MERGE_HEAD", "HEAD"),
        lambda repo: repo.git("checkout", "-q", "--detach"),
        lambda repo: repo.git("checkout", "-q", "-b", "mine"),
    ],
    ids=["merging", "detached", "elsewhere"],
)
def test_a_memory_in_the_middle_of_something_starts_no_child(memory, repo, talk, meddle):
    meddle(repo)
    done = reflected(memory, talk)
    assert outcomes(done) == ["parent_dirty"]
    (run,) = done.runs
    assert (run.base, run.branch, cursor(memory)) == (None, None, 0)
    assert not memory.agent.run(run.id).exists()
    assert repo.git("branch", "--list", "memory/*") == ""


def test_a_tip_that_waits_keeps_its_conversation_and_is_merged_when_it_can_be(memory, repo, talk):
    before = (repo.path / HUMAN).read_text()
    repo.write({HUMAN: "mine for now\n"})
    first = reflected(memory, talk)
    assert outcomes(first) == ["parent_dirty"]
    (run,) = first.runs
    assert repo.sha(f"refs/reflector/kept/{run.id}") == run.tip
    assert cursor(memory) == 0

    again = reflected(memory, extend(talk, "And shorter.", "Yes."))
    assert [(each.id, each.outcome) for each in again.runs] == [(run.id, "parent_dirty")]
    assert (repo.path / HUMAN).read_text() == "mine for now\n"

    repo.write({HUMAN: before})
    done = reflected(memory)
    assert done.runs[0].id == run.id
    assert outcomes(done) == ["merged", "merged"]
    assert done.runs[0].tip == run.tip
    assert repo.git("for-each-ref", "refs/reflector") == ""
    assert cursor(memory) == 4


def test_what_a_dead_owner_left_is_ended_and_kept_before_anything_else(memory, repo):
    with bench(memory) as left:
        base = repo.sha("main")
        place = planned(memory, reserved(left), base)
        token = left.who.token
        move = (Phase.RESERVED, Phase.PROVISIONING)
        reservations.advance(left.state, RUN, token, *move, branch=place.branch, base=base)
        worktree.create(door(repo), place)
        reservations.advance(left.state, RUN, token, Phase.PROVISIONING, Phase.RUNNING)
        reservations.adopt(left.state, RUN, OTHER)
    tip = Repo(place.path).commit({"reference/half.md": "half\n"})
    environ = environment(memory.agent.run(RUN), place.path, "agent", RUN)
    stray = subprocess.Popen(["sleep", "60"], env=environ, start_new_session=True)
    try:
        assert reflected(memory).runs == ()
        assert not psutil.pid_exists(stray.pid)
    finally:
        stray.kill()
        stray.wait()
    (run,) = ledger(memory)
    assert run.settlement is not None
    assert (run.outcome, run.settlement.reason) == ("failed", "supervisor_died")
    assert repo.sha(f"refs/reflector/backup/{RUN}") == tip
    assert not place.path.exists()
    assert repo.sha("main") == base


def test_sessions_in_our_own_home_are_never_journaled(memory, tmp_path):
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    inside = str(memory.agent.run(RUN))
    ours.write_bytes(lines(user("u1", "a prompt of ours", cwd=inside)))
    theirs.write_bytes(lines(user("u2", "a question") | {"sessionId": "s2"}))
    assert ingest(memory, ours, QuietWatch()).entries == 0
    assert ingest(memory, theirs, QuietWatch()).entries == 1


def test_a_dry_run_is_read_again_by_the_next_run(memory, talk, repo):
    base = repo.sha("main")
    dry = reflect(memory, replace(Options(files=[talk]), dry_run=True), QuietWatch(), LEARNS)
    assert outcomes(dry) == ["dry_run"]
    assert (repo.sha("main"), cursor(memory)) == (base, 0)
    assert outcomes(reflected(memory)) == ["merged"]
