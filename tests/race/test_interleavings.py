"""Two processes, one gap: each step that takes two is interrupted where it hurts most."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from reflector.core.ambient import Ambient
from reflector.core.errors import ReflectorError
from reflector.core.schedule import Engine, Settled, Shutdown
from reflector.runtime import log, supervisor
from reflector.runtime.front import handle
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from reflector.runtime.review import approve, asking, reject
from reflector.runtime.spooled import drain_spool
from reflector.runtime.sweep import sweep
from reflector.runtime.undo import undo
from reflector.store.locks import Lock
from tests.support.auditor import audit, git, rows
from tests.support.detached import rest
from tests.support.hooks import until_spooled
from tests.support.scenes import Scene, Shifted, Stage, outcomes
from tests.support.scripted_engine import lesson_file
from tests.support.sequencer import Actor, actor

pytestmark = [pytest.mark.race, pytest.mark.slow]

HOUR = 3600
DONE = Settled(success=True)
OWNS = ("sh", "-c", "echo launched")
DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"
ROUNDS = 60 if DEEP else 6
SEED = random.randrange(10**6) if DEEP else 1
REFUSED = (
    "not_waiting",
    "not_mergeable",
    "not_found",
    "undo_conflict",
    "parent_dirty",
    "ref_moved",
)
CONFIG = "[trigger]\nstep_count = 1\n"


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path, seconds=0))
    made = Scene(tmp_path, CONFIG, clock=Shifted())
    made.engine = Engine("rules", can_dream=False, calls_model=True)
    return made


def asks(scene: Scene, name: str) -> None:
    """One more conversation, and the event that reserves its run."""
    scene.says(f"Lesson {name}.", "Yes.", session=name)
    assert handle(scene.context(), DONE, None).as_json()["decision"] in ("reserved", "nothing")


def works(scene: Scene) -> list[str]:
    return outcomes(scene.drains())


def reflects(scene: Scene) -> list[str]:
    return outcomes(reflect(scene.context(), Options(), Quiet()).runs)


def event(scene: Scene) -> str:
    return handle(scene.context(), DONE, OWNS).supervisor


def sweeps(scene: Scene, later: float = 0) -> list[tuple[str, bool]]:
    """Sweep as if it were so many seconds later."""
    found = scene.context()
    found = replace(found, ambient=Ambient(Shifted(later), scene.chance))
    with log.opened(found.agent.log, identity="default") as logger:
        return [(each.kind, each.removed) for each in sweep(found, logger, dry_run=False)]


def ledger(scene: Scene) -> list[str]:
    found = rows(
        scene.repo.parent / "state.db", "SELECT outcome FROM runs ORDER BY reserved_at, rowid"
    )
    return [row["outcome"] for row in found]


def learned(scene: Scene, *names: str) -> None:
    """Every lesson is in main once, and in the files as well."""
    for name in names:
        text = git(scene.repo, "show", f"main:{lesson_file(name)}").decode()
        assert text.count(f"- lesson {name}\n") == 1
        assert (scene.repo / lesson_file(name)).read_text("utf-8") == text


def judged(scene: Scene, *names: str, **allowed: Any) -> None:
    learned(scene, *names)
    audit(scene.home, transcripts=sorted(scene.folder.glob("*.jsonl")), **allowed)


# The sweep


def test_two_sweepers_remove_everything_once_and_neither_fails(scene):
    (scene.repo.parent / "worktrees" / "1-20200101T000000-0123abcd").mkdir()
    (scene.repo.parent / "runs" / "20200101T000000-0123abcd").mkdir()
    later = 100 * 24 * HOUR
    with actor(lambda: sweeps(scene, later), "before:remove") as first:
        first.at("before:remove")
        with actor(lambda: sweeps(scene, later)) as second:
            assert second.busy()
            first.go()
            assert first.end() == [["folder", True], ["run_folder", True]]
            assert all(removed for _, removed in second.end())  # what was gone already counts
    assert sweeps(scene, later) == []
    audit(scene.home)


@pytest.mark.parametrize(
    "point",
    ["before:provisioning", "after:provisioning", "after:worktree", "after:running",
     "before:validating", "after:validating", "after:integrating"],
)  # fmt: skip
def test_a_sweep_beside_a_run_touches_nothing_of_it(scene, point):
    asks(scene, "one")
    with actor(lambda: works(scene), point) as run:
        run.at(point)
        assert sweeps(scene, 10 * HOUR) == []
        run.go()
        assert run.end() == ["merged"]
    judged(scene, "one")


def test_a_sweep_that_chose_before_a_run_was_launched_takes_only_what_it_chose(scene):
    old = scene.repo.parent / "worktrees" / "1-20200101T000000-0123abcd"
    old.mkdir()
    with actor(lambda: sweeps(scene, HOUR), "before:remove") as broom:
        broom.at("before:remove")
        asks(scene, "one")
        with actor(lambda: works(scene), "after:running") as run:
            assert run.busy()  # it looks for a person's edits first, under the memory's lock
            broom.go()
            assert broom.end() == [["folder", True]]
            run.at("after:running")
            run.go()
            assert run.end() == ["merged"]
    judged(scene, "one")


def test_a_sweep_that_looked_before_a_run_ended_loses_nothing_of_it(scene):
    asks(scene, "one")
    with actor(lambda: works(scene), "after:settled") as run:
        run.at("after:settled")
        with actor(lambda: sweeps(scene, HOUR), "before:remove") as broom:
            broom.at("before:remove")  # the run is settled, its worktree is still there
            run.go()
            assert run.end() == ["merged"]
            broom.go()
            broom.end()
    judged(scene, "one")


def test_a_run_beside_which_the_sweep_drops_an_old_tip_is_merged(scene):
    scene.says("Lesson one. Collide.", "Yes.", session="one")
    handle(scene.context(), DONE, None)
    assert works(scene) == ["merge_conflict"]
    asks(scene, "two")
    with actor(lambda: works(scene), "after:running") as run:
        run.at("after:running")
        assert sweeps(scene, 20 * 24 * HOUR) == [("ref", True)]
        run.go()
        assert run.end() == ["merged"]
    judged(scene, "one", "two")


# Owners


def test_what_was_promoted_by_one_who_died_is_run_by_the_next(scene):
    asks(scene, "one")
    with actor(lambda: works(scene), "after:running", "before:adopt#2") as promoter:
        promoter.at("after:running")
        scene.says("Lesson two.", "Yes.", session="two")
        assert handle(scene.context(), Shutdown(), OWNS).as_json()["decision"] == "queued"
        promoter.go()
        promoter.at("before:adopt#2")
        # The second run is active and nobody's; whoever comes now finds the slot owned.
        assert ledger(scene) == ["merged", None]
        assert event(scene) == "busy"
    assert event(scene) == "launched"
    assert works(scene) == ["merged"]
    judged(scene, "one", "two")


@pytest.mark.parametrize(
    "point", ["after:provisioning", "after:running", "after:validating", "before:saved"]
)
def test_an_owner_that_is_stopped_is_not_robbed_and_goes_on(scene, point):
    asks(scene, "one")
    with actor(lambda: works(scene), point) as owner:
        owner.at(point)
        owner.freeze()
        assert event(scene) == "busy"
        if point != "before:saved":  # there it holds the memory as well
            assert sweeps(scene, 10 * HOUR) == []
        with actor(lambda: reflects(scene)) as person:
            assert person.busy()
            owner.go()
            owner.thaw()
            assert owner.end() == ["merged"]
            assert person.end() == []
    judged(scene, "one")


def test_a_reclaimed_run_is_settled_once_even_if_its_owner_comes_back(scene):
    """The owner lost its lock (its file was removed by hand): the ledger's token stops it."""
    asks(scene, "one")
    with actor(lambda: works(scene), "before:validating") as owner:
        owner.at("before:validating")
        scene.context().agent.lock("run-reflection").unlink()
        assert works(scene) == ["merged"]
        owner.go()
        assert "settled by somebody else" in owner.fails()
    judged(scene, "one")
    assert ledger(scene) == ["merged"]


# Main


def test_an_undo_waits_for_a_merge_and_both_land(scene):
    asks(scene, "one")
    (first,) = scene.drains()
    asks(scene, "two")
    with actor(lambda: works(scene), "before:ref") as run:
        run.at("before:ref")
        with actor(lambda: undo(scene.context(), first.id).run) as person:
            assert person.busy()
            run.go()
            assert run.end() == ["merged"]
            assert person.end() == first.id
    judged(scene, "two")
    assert "- lesson one\n" not in git(scene.repo, "grep", "-h", "-e", "lesson", "main").decode()


def test_a_merge_waits_for_an_undo_and_both_land(scene):
    asks(scene, "one")
    (first,) = scene.drains()
    asks(scene, "two")
    with actor(lambda: works(scene), "after:integrating") as run:
        run.at("after:integrating")
        with actor(lambda: undo(scene.context(), first.id).run, "before:ref") as person:
            person.at("before:ref")
            run.go()
            assert run.busy()
            person.go()
            assert person.end() == first.id
            assert run.end() == ["merged"]
    judged(scene, "two")


def by_hand(scene: Scene) -> str:
    """Commit without the index, which a run may hold at this moment."""
    tree = scene.git("rev-parse", "main^{tree}").strip()
    made = scene.git("commit-tree", "-p", "main", "-m", "by hand", tree).strip()
    scene.git("update-ref", "refs/heads/main", made)
    return made


@pytest.mark.parametrize("point", ["before:lock", "after:lock", "after:commit", "before:ref"])
def test_a_commit_by_hand_between_plan_and_move_is_merged_upon(scene, point):
    asks(scene, "one")
    with actor(lambda: works(scene), point) as run:
        run.at(point)
        made = by_hand(scene)
        run.go()
        assert run.end() == ["merged"]
    assert scene.git("rev-parse", "main^1").strip() == made
    judged(scene, "one")


def test_while_a_merge_holds_the_index_a_person_s_git_says_so_itself(scene):
    asks(scene, "one")
    with actor(lambda: works(scene), "before:ref") as run:
        run.at("before:ref")
        (scene.repo / "reference" / "mine.md").write_text("---\ndescription: mine\n---\n")
        with pytest.raises(subprocess.CalledProcessError) as caught:
            scene.git("add", "-A")
        assert "index.lock" in caught.value.stderr
        run.go()
        assert run.end() == ["merged"]
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "by hand")
    judged(scene, "one")


# A person decides


def waits(scene: Scene, name: str) -> str:
    """A lesson that waits for a person."""
    scene.says(f"Lesson {name}.", "Yes.", session=name)
    (run,) = reflect(asking(scene.context()), Options(), Quiet()).runs
    assert outcomes([run]) == ["awaiting_review"]
    return run.id


def approves(scene: Scene, run_id: str) -> str:
    return decides(lambda: approve(scene.context(), run_id).outcome)


def rejects(scene: Scene, run_id: str) -> str:
    return decides(lambda: reject(scene.context(), run_id).outcome)


def undoes(scene: Scene, run_id: str) -> str:
    return decides(lambda: undo(scene.context(), run_id).run and "undone")


def decides(decide: Callable[[], str | None]) -> str:
    """Return what came of it, or the code of the error that said why not."""
    try:
        return str(decide())
    except ReflectorError as error:
        return error.code


def test_of_approve_and_reject_the_first_to_be_written_down_wins(scene):
    run = waits(scene, "one")
    with actor(lambda: approves(scene, run), "before:approve") as first:
        first.at("before:approve")
        assert rejects(scene, run) == "rejected"
        first.go()
        assert first.end() == "busy"
    run = waits(scene, "two")
    with actor(lambda: rejects(scene, run), "before:forget") as first:
        first.at("before:forget")
        assert approves(scene, run) == "not_waiting"
        first.go()
        assert first.end() == "rejected"
    assert ledger(scene) == ["rejected", "rejected"]
    judged(scene)


@pytest.mark.parametrize(
    "point", ["after:approve", "before:lock", "before:ref", "after:ref", "before:settled"]
)
def test_what_is_being_approved_can_be_neither_rejected_nor_approved_again(scene, point):
    run = waits(scene, "one")
    with actor(lambda: approves(scene, run), point) as person:
        person.at(point)
        assert rejects(scene, run) == "busy"
        assert approves(scene, run) == "busy"
        assert sweeps(scene, 0) == []
        person.go()
        assert person.end() == "merged"
    assert approves(scene, run) == "not_waiting"
    judged(scene, "one")


@pytest.mark.parametrize("point", ["after:approve", "after:lock", "before:ref"])
def test_an_undo_beside_an_approval_waits_and_both_land(scene, point):
    asks(scene, "one")
    (old,) = scene.drains()
    run = waits(scene, "two")
    with actor(lambda: approves(scene, run), point) as person:
        person.at(point)
        with actor(lambda: undoes(scene, old.id)) as other:
            if point == "after:approve":  # there it holds no lock of the memory yet
                assert other.end() == "undone"
                person.go()
            else:
                assert other.busy()
                person.go()
                assert other.end() == "undone"
            assert person.end() == "merged"
    judged(scene, "two")


def test_an_undo_of_what_was_approved_this_very_moment_takes_it_back(scene):
    run = waits(scene, "one")
    with actor(lambda: approves(scene, run), "before:settled") as person:
        person.at("before:settled")
        assert undoes(scene, run) == "undone"  # it is in main, whatever the ledger says
        person.go()
        assert person.end() == "merged"
    judged(scene)
    assert b"lesson one" not in git(scene.repo, "grep", "-h", "-e", "lesson", "main", check=False)


def test_a_commit_by_hand_in_the_middle_of_an_approval_is_merged_upon(scene):
    run = waits(scene, "one")
    with actor(lambda: approves(scene, run), "before:ref") as person:
        person.at("before:ref")
        made = by_hand(scene)
        person.go()
        assert person.end() == "merged"
    assert scene.git("rev-parse", "main^1").strip() == made
    judged(scene, "one")


def test_an_event_that_finds_an_approval_at_work_is_not_lost(tmp_path):
    scene = Scene(tmp_path, CONFIG, clock=Shifted())
    scene.says("Always use tabs in Makefiles.", "Yes.", session="one")
    (run,) = reflect(asking(scene.context()), Options(), Quiet()).runs
    with actor(lambda: approves(scene, run.id), "before:presence") as person:
        person.at("before:presence")
        scene.says("Never push to main directly.", "Yes.", session="two")
        assert event(scene) == "busy"
        person.go()
        assert person.end() == "merged"
    rest(scene.home)
    assert ledger(scene) == ["merged", "merged"]
    judged(scene)


@pytest.mark.timeout(300)
def test_whoever_decides_at_once_with_whomever_every_run_ends_in_one_true_state(scene):
    """Approve, reject and undo start together, round after round."""
    chance = random.Random(SEED)
    decided: list[tuple[str, str]] = []
    for number in range(ROUNDS):
        run = waits(scene, f"r{number}")
        # A rejection is quicker than an approval: in every third round there is none.
        against = approves if number % 3 == 0 else rejects
        acts = [approves, against, undoes, chance.choice((against, undoes))]
        chance.shuffle(acts)
        merged = [each for each, how in decided if how == "merged"]
        with contextlib.ExitStack() as stack:
            actors = [stack.enter_context(racing(scene, act, run, merged, chance)) for act in acts]
            said = [each.end() for each in actors]
        assert set(said) <= {"merged", "rejected", "undone", "busy", *REFUSED}, f"seed {SEED}"
        for each in [run, *merged]:
            decided = [one for one in decided if one[0] != each]
            decided.append((each, how_it_ended(scene, each)))
        if how_it_ended(scene, run) == "awaiting_review":  # all were in each other's way
            assert rejects(scene, run) == "rejected"
        judged(scene)
    last = waits(scene, "last"), waits(scene, "never")
    assert (approves(scene, last[0]), rejects(scene, last[1])) == ("merged", "rejected")
    judged(scene)


def racing(
    scene: Scene,
    act: Callable[[Scene, str], str],
    run: str,
    merged: Sequence[str],
    chance: random.Random,
) -> AbstractContextManager[Actor]:
    """Start a person at something; an undo takes what was merged before, if there is any."""
    target = chance.choice(merged) if act is undoes and merged else run
    return actor(lambda: act(scene, target))


def how_it_ended(scene: Scene, run_id: str) -> str:
    (row,) = rows(scene.repo.parent / "state.db", "SELECT outcome FROM runs WHERE id = ?", run_id)
    return str(row["outcome"])


# Wake-ups


def hooks(scene: Scene, session: str) -> None:
    """Be a harness whose turn has ended."""
    given = {"session_id": session, "transcript_path": str(scene.folder / f"{session}.jsonl")}
    call = partial(
        subprocess.run,
        [scene.home / "bin" / "reflector", "hook", "claude-code", "Stop"],
        env={"REFLECTOR_HOME": str(scene.home), "HOME": os.environ["HOME"]},
        input=json.dumps(given | {"cwd": "/"}).encode(),
        check=True,
        timeout=20,
    )
    until_spooled(scene.home, call)


def drains_spool(scene: Scene) -> list[int]:
    done = drain_spool(scene.context(), OWNS)
    return [done.events, done.entries]


def entries(scene: Scene) -> int:
    found = rows(scene.repo.parent / "state.db", "SELECT count(*) n FROM entries")
    return int(found[0]["n"])


@pytest.mark.parametrize("point", ["before:handle", "before:spool", "after:spool", "before:ingest"])
def test_a_hook_that_finds_a_drainer_at_work_is_drained_by_it(scene, point):
    for name in ("one", "two"):
        scene.write("Hello.", "Yes.", session=name)
    hook_without_drainer(scene, "one")
    with actor(lambda: drains_spool(scene), point) as drainer:
        drainer.at(point)
        hooks(scene, "two")
        drainer.go()
        assert drainer.end() == [2, 4]
    assert entries(scene) == 4


def hook_without_drainer(scene: Scene, session: str) -> None:
    lock = Lock(scene.home / "locks" / "ingest.lock")
    assert lock.take()
    hooks(scene, session)
    lock.release()


def test_a_hook_that_finds_a_drainer_gone_starts_one(scene):
    for name in ("one", "two"):
        scene.write(f"Lesson {name}.", "Yes.", session=name)
    hook_without_drainer(scene, "one")
    with actor(lambda: drains_spool(scene), "after:ingest") as drainer:
        drainer.at("after:ingest")
        hooks(scene, "two")
        rest(scene.home)
        drainer.go()
        assert drainer.end()[0] in (1, 2)
    assert entries(scene) == 4


@pytest.mark.parametrize("point", ["before:presence", "after:presence", "before:presence#2"])
def test_an_event_beside_a_supervisor_that_lets_go_is_not_lost(scene, point):
    asks(scene, "one")
    with actor(lambda: (works(scene), works(scene))[0], point) as owner:
        owner.at(point)
        scene.says("Lesson two.", "Yes.", session="two")
        answer = handle(scene.context(), DONE, OWNS).as_json()
        assert answer["decision"] == "reserved"
        assert answer["supervisor"] == ("launched" if point.startswith("after") else "busy")
        owner.go()
        owner.end()
    assert sorted(ledger(scene)) == ["merged", "merged"]
    judged(scene, "one", "two")


def test_an_event_beside_a_person_s_reflect_that_lets_go_is_not_lost(tmp_path):
    scene = Scene(tmp_path, CONFIG, clock=Shifted())
    scene.says("Always use tabs in Makefiles.", "Yes.", session="one")
    with actor(lambda: reflects(scene), "before:presence") as person:
        person.at("before:presence")
        scene.says("Never push to main directly.", "Yes.", session="two")
        assert event(scene) == "busy"
        person.go()
        assert person.end() == ["merged"]
    rest(scene.home)
    assert ledger(scene) == ["merged", "merged"]
    judged(scene)


def test_a_person_s_reflect_runs_what_an_event_reserved_in_its_gap_and_then_its_own(scene):
    scene.says("Lesson one.", "Yes.", session="one")
    with actor(lambda: reflects(scene), "before:own") as person:
        person.at("before:own")
        assert event(scene) == "busy"
        scene.says("Lesson two.", "Yes.", session="two")
        person.go()
        assert person.end() == ["merged", "merged"]
    judged(scene, "one", "two")


def test_of_two_supervisors_for_one_reservation_one_works(scene):
    asks(scene, "one")
    with actor(lambda: works(scene), "after:running") as first:
        first.at("after:running")
        with actor(lambda: works(scene)) as second:
            assert second.end() == []
        first.go()
        assert first.end() == ["merged"]
    judged(scene, "one")


def test_two_events_at_once_reserve_once_and_launch_for_it(scene):
    scene.says("Lesson one.", "Yes.", session="one")
    with (
        actor(lambda: event(scene), "before:decided") as first,
        actor(lambda: event(scene), "before:decided") as second,
    ):
        first.at("before:decided")
        second.at("before:decided")
        first.go()
        second.go()
        assert {first.end(), second.end()} <= {"launched", "busy"}
    assert ledger(scene) == [None]
    assert works(scene) == ["merged"]
    judged(scene, "one")
