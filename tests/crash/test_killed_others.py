"""Deaths beside a run's own: before it has an owner, while another waits, in undo, sweep and drainer."""

from __future__ import annotations

import signal
import sys

import pytest

from reflector.core.ambient import stamp
from reflector.core.errors import NotFoundError
from reflector.core.run import Outcome, Phase, Reason, Settlement
from reflector.core.schedule import Settled, Shutdown
from reflector.runtime.bench import planned
from reflector.runtime.front import handle
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.spooled import drain_spool
from reflector.runtime.undo import undo
from reflector.store import reservations
from reflector.vcs import worktree
from tests.support import kill_at
from tests.support.auditor import git, rows
from tests.support.deaths import HUMAN, LESSON, TURN, Mortal, aged, hooked
from tests.support.detached import rest
from tests.support.journals import ME, REQUEST
from tests.support.repos import Repo, door
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.crash, pytest.mark.slow]

KILLED = -signal.SIGKILL
MARKER = "I prefer pytest over unittest."


def test_what_was_reserved_and_not_launched_is_launched_by_the_next_event(mortal):
    assert handle(mortal.now(), Settled(success=True), None).supervisor == "none"
    answer = handle(mortal.now(TURN), Settled(success=True))
    assert (answer.as_json()["decision"], answer.supervisor) == ("nothing", "owns")
    rest(mortal.home)
    mortal.judge(LESSON)


def test_a_detached_supervisor_that_died_is_followed_by_another(mortal):
    deadly = (sys.executable, kill_at.__file__, "loop", "supervisor:after:running")
    assert handle(mortal.now(), Settled(success=True), deadly).supervisor == "owns"
    rest(mortal.home)
    assert handle(mortal.now(TURN), Settled(success=True)).supervisor == "owns"
    rest(mortal.home)
    mortal.recovered("event")
    mortal.judge(LESSON)


@pytest.mark.parametrize("point", ["after:running", "after:ref", "before:settled", "after:settled"])
def test_what_waited_behind_a_killed_run_is_promoted(nursery, mortal, point):
    assert handle(mortal.now(), Settled(success=True), None).as_json()["decision"] == "reserved"
    mortal.says(MARKER, "Noted.", session="second")
    assert handle(mortal.now(), Shutdown(), None).as_json()["decision"] == "queued"
    code, said = nursery.run(f"supervisor:{point}", mortal.home, "loop", mortal.home, "default")
    assert code == KILLED, said
    mortal.recovered("event")
    mortal.judge(LESSON, MARKER, merges=2)


UNDO = [
    f"{when}:{name}"
    for name in (
        "lock",
        "commit",
        "copy",
        "ref",
        "written",
        "files",
        "exchange",
        "index",
        "release",
    )
    for when in ("before", "after")
]


@pytest.mark.parametrize("point", UNDO)
def test_a_killed_undo_is_done_or_can_be_done_again(nursery, mortal, point):
    (run,) = reflect(mortal.now(), Options(), Quiet()).runs
    code, said = nursery.run(
        f"supervisor:{point}", mortal.home, "undo", run.id, "--home", mortal.home
    )
    assert code == KILLED, said
    try:
        undo(mortal.now(), run.id)
    except NotFoundError as error:
        assert "undone already" in error.message
    mortal.judge()
    assert LESSON.rstrip(".").encode() not in git(mortal.repo, "show", f"main:{HUMAN}")
    assert LESSON.rstrip(".") not in (mortal.repo / HUMAN).read_text("utf-8")
    assert git(mortal.repo, "rev-list", "--count", "--first-parent", "main") == b"3\n"


def left_behind(mortal: Mortal) -> str:
    """A failed run of an hour ago: its worktree with a commit, a change and a new file."""
    long_ago, repo = mortal.now(-3600), Repo(mortal.repo)
    run_id, base = long_ago.ambient.run_id(), repo.sha("main")
    token, at = ME.token, stamp(long_ago.ambient.clock.now())
    with long_ago.state() as state:
        with state.transaction() as connection:
            reservations.reserve(connection, run_id, "reflection", REQUEST, (), ME, at)
        place = planned(long_ago, reservations.find(state.connection, run_id), base)
        moves = (Phase.RESERVED, Phase.PROVISIONING)
        reservations.advance(state, run_id, token, *moves, branch=place.branch, base=base)
        worktree.create(door(repo), place)
        tip = Repo(place.path).commit({"reference/half.md": "half\n"})
        (place.path / HUMAN).write_text("half a thought\n", "utf-8")
        (place.path / "notes.txt").write_text("loose\n", "utf-8")
        end = Settlement(Outcome.FAILED, Reason.SUPERVISOR_DIED, tip=tip)
        reservations.settle(state, run_id, token, end, at)
    aged(place.path, 3600)
    return run_id


SWEEP = [
    *("before:keep", "after:keep", "before:close", "after:close"),
    *("before:rmtree", "half:rmtree", "after:rmtree"),
]


@pytest.mark.parametrize("point", SWEEP)
def test_a_killed_sweep_loses_nothing_and_the_next_one_goes_on(nursery, mortal, point):
    run_id = left_behind(mortal)
    code, said = nursery.run(f"supervisor:{point}", mortal.home, "sweep", "--home", mortal.home)
    assert code == KILLED, said
    mortal.judge(merges=0)
    (row,) = rows(mortal.repo.parent / "state.db", "SELECT * FROM runs WHERE id = ?", run_id)
    assert row["kept_ref"] == f"refs/reflector/backup/{run_id}"
    scratch = mortal.now().agent.run(run_id) / "scratch"
    assert (scratch / "notes.txt").read_text() == "loose\n"
    assert (scratch / HUMAN).read_text() == "half a thought\n"


@pytest.mark.parametrize(
    "point", ["before:spool", "after:spool", "before:reserve", "after:reserve"]
)
def test_a_killed_drainer_loses_and_doubles_nothing(nursery, mortal, point):
    talk = conversation(mortal.folder / "second.jsonl", MARKER, "Noted.", session="second")
    hooked(mortal, "Stop", talk)
    code, said = nursery.run(
        f"supervisor:{point}", mortal.home, "event", "--drain", "--home", mortal.home
    )
    assert code == KILLED, said
    rest(mortal.home)
    drain_spool(mortal.now(TURN), ("true",))
    mortal.recovered("event")
    assert drain_spool(mortal.now(TURN), ("true",)).events == 0
    merged = rows(mortal.repo.parent / "state.db", "SELECT * FROM runs WHERE outcome = 'merged'")
    mortal.judge(LESSON, MARKER, merges=len(merged))


KEPT = [
    *("before:reopen", "after:reopen", "after:lock", "after:commit", "before:ref", "after:ref"),
    *("after:exchange", "after:index", "before:integrated", "after:integrated"),
    *("before:settled", "after:settled", "before:forget", "after:forget"),
]


def kept_tip(mortal: Mortal) -> bytes:
    """A validated tip that waits for a person's edit to go; return the file before the edit."""
    human = mortal.repo / HUMAN
    before = human.read_bytes()
    human.write_text("mine for now\n", "utf-8")
    (run,) = reflect(mortal.now(), Options(), Quiet()).runs
    assert run.outcome is Outcome.PARENT_DIRTY
    return before


@pytest.mark.parametrize("point", KEPT)
@pytest.mark.parametrize("recover", ["reflect", "event"])
def test_a_kept_tip_survives_the_death_of_who_tries_it_again(nursery, mortal, point, recover):
    (mortal.repo / HUMAN).write_bytes(kept_tip(mortal))
    code, said = nursery.run(f"supervisor:{point}", mortal.home, "reflect", "--home", mortal.home)
    assert code == KILLED, said
    mortal.recovered(recover)
    mortal.judge(LESSON)
    assert git(mortal.repo, "for-each-ref", "refs/reflector") == b""


@pytest.mark.parametrize("point", ["before:keep", "after:keep", "before:settled", "after:settled"])
def test_a_tip_in_a_person_s_way_is_kept_though_its_supervisor_dies(nursery, mortal, point):
    human = mortal.repo / HUMAN
    before = human.read_bytes()
    human.write_text("mine for now\n", "utf-8")
    assert mortal.killed(nursery, f"supervisor:{point}", "event")[0] == KILLED
    mortal.recovered("event")
    assert human.read_text("utf-8") == "mine for now\n"
    assert git(mortal.repo, "for-each-ref", "refs/reflector/kept").count(b"\n") == 1
    human.write_bytes(before)
    mortal.recovered("reflect")
    mortal.judge(LESSON)
