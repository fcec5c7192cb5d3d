"""The front door: what launches a supervisor, and what is said when none could start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.core.ambient import Ambient
from reflector.core.errors import HomeError, NotFoundError
from reflector.core.run import Reason
from reflector.core.schedule import Idle, Manual, Refuse, Reserve, Settled, Shutdown, Why
from reflector.runtime import front, loop, supervisor
from reflector.runtime.front import Answer, describe, handle, launch, mark_compaction
from reflector.runtime.loop import REFLECTION
from reflector.runtime.status import status
from reflector.store.locks import Lock
from tests.support.auditor import rows
from tests.support.clocks import FakeClock
from tests.support.scenes import SCRIPTED, Scene, Stage, outcomes

DONE = Settled(success=True)
OWNS = ("sh", "-c", 'echo "$1 $2" > "$1/launched"; env > "$1/environment"; echo owns', "sh")
CONFIG = "[trigger]\nstep_count = 1\n"


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, CONFIG)


def launched(scene: Scene) -> bool:
    """Tell whether a supervisor was launched since the last question."""
    place = scene.home / "launched"
    was = place.exists()
    place.unlink(missing_ok=True)
    return was


def presence(scene: Scene) -> Lock:
    lock = Lock(scene.context().agent.lock(f"run-{REFLECTION}"))
    assert lock.take()
    return lock


def test_an_event_that_leads_to_nothing_launches_nobody(scene):
    answer = handle(scene.context(), DONE, OWNS)
    assert answer.as_json() == {
        "decision": "nothing",
        "why": "below_threshold",
        "until": None,
        "supervisor": "none",
    }
    assert not launched(scene)


def test_what_is_reserved_is_launched_for_its_home_and_identity(scene):
    scene.says("Hello.", "Yes.")
    answer = handle(scene.context(), DONE, OWNS)
    assert answer.as_json()["decision"] == "reserved"
    assert answer.supervisor == "owns"
    assert (scene.home / "launched").read_text() == f"{scene.home} default\n"


@pytest.mark.parametrize("event", [DONE, Settled(success=False), Idle(), Shutdown()])
def test_a_reserved_run_that_nobody_confirmed_is_launched_by_the_next_event(scene, event):
    scene.says("Hello.", "Yes.")
    assert "did not start" in handle(scene.context(), DONE, ("false",)).supervisor
    assert handle(scene.context(), event, OWNS).supervisor == "owns"
    assert launched(scene)


def test_a_supervisor_that_cannot_start_says_where_to_look(scene):
    word = launch(scene.context(), ("sh", "-c", "echo no good >&2"))
    trouble = scene.context().agent.log.with_suffix(".err")
    assert word == f"did not start: see {trouble}"
    assert trouble.read_text() == "no good\n"


def test_a_living_owner_is_told_nothing_and_nobody_is_launched(scene):
    scene.says("Hello.", "Yes.")
    owner = presence(scene)
    assert handle(scene.context(), DONE, OWNS).supervisor == "busy"
    assert not launched(scene)
    owner.release()


def test_who_only_looks_for_an_instant_is_not_taken_for_an_owner(scene):
    scene.says("Hello.", "Yes.")
    glance = presence(scene)

    class Passes(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            glance.release()

    found = scene.context()
    assert handle(
        replace(found, ambient=Ambient(Passes(), scene.chance)), DONE, OWNS
    ).supervisor == ("owns")


def test_the_person_s_environment_goes_on_without_what_redirects_git_or_marks_a_child(
    scene, monkeypatch
):
    for name in ("GIT_DIR", "CLAUDE_CODE_SESSION", "CODEX_HOME", "REFLECTOR_HOME", "A_PROXY"):
        monkeypatch.setenv(name, "set")
    launch(scene.context(), OWNS)
    names = {line.partition("=")[0] for line in (scene.home / "environment").read_text().split()}
    assert "A_PROXY" in names
    assert not names & {"GIT_DIR", "CLAUDE_CODE_SESSION", "CODEX_HOME", "REFLECTOR_HOME"}


def test_an_identity_that_was_never_made_is_named(scene):
    with pytest.raises(HomeError, match="nobody"):
        handle(scene.context("nobody"), DONE, OWNS)


def test_a_compaction_needs_a_conversation_that_is_known(scene):
    with pytest.raises(NotFoundError, match="nowhere"):
        mark_compaction(scene.context(), "jsonl/nowhere", "b")
    scene.says("Hello.", "Yes.")
    for boundary in ("", "", "b", "b\udcff"):
        mark_compaction(scene.context(), "jsonl/talk", boundary)
    found = rows(scene.repo.parent / "state.db", "SELECT record FROM boundaries ORDER BY record")
    assert [row["record"] for row in found] == ["b", "b?", "event-2026-11-30T12:00:00.000Z"]


def test_every_decision_is_said_in_words(scene):
    scene.says("Hello.", "Yes.")
    words = [describe(scene.event(DONE)), describe(scene.event(Shutdown()))]
    words += [describe(scene.event(Settled(success=False)))]
    assert words == [
        "reserved a run (step-count)",
        "waits for its turn (shutdown)",
        "nothing to do: failed_turn",
    ]


# The supervisor's loop, which the front door relies on


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    monkeypatch.setattr(supervisor, "run_child", Stage(tmp_path))
    return scene


def test_away_from_main_a_run_is_begun_once_for_each_event(scripted):
    scripted.says("Lesson one.", "Yes.")
    scripted.event(DONE)
    scripted.git("checkout", "-q", "-b", "elsewhere")
    assert outcomes(scripted.drains()) == ["parent_dirty"]
    assert scripted.drains() == []


@pytest.mark.parametrize("event", [DONE, Shutdown()])
def test_away_from_main_events_leave_no_more_than_one_run(scripted, event):
    scripted.git("checkout", "-q", "-b", "elsewhere")
    for number in range(3):
        scripted.says(f"Lesson {number}.", "Yes.")
        scripted.event(event)
        scripted.drains()
    state = scripted.context().agent.state
    assert len(rows(state, "SELECT * FROM runs")) == 1
    assert scripted.event(event) == Refuse(Why.PARENT_DIRTY)
    scripted.git("checkout", "-q", "main")
    assert isinstance(scripted.event(event), Reserve)
    assert outcomes(scripted.drains()) == ["merged"]


def test_another_reason_is_another_run(scripted):
    scripted.says("Lesson one.", "Yes.")
    for branch in ("elsewhere", "nowhere"):
        scripted.git("checkout", "-q", "-b", branch)
        scripted.event(DONE)
        assert outcomes(scripted.drains()) == ["parent_dirty"]
    scripted.git("checkout", "-q", "main")
    (scripted.repo / ".git" / "MERGE_HEAD").write_text(scripted.git("rev-parse", "HEAD"), "ascii")
    scripted.event(DONE)
    assert outcomes(scripted.drains()) == ["parent_dirty"]
    assert scripted.event(DONE) == Refuse(Why.PARENT_DIRTY)
    found = {each.code for each in status(scripted.context()).problems}
    assert "in_the_middle" in found


def test_a_person_may_ask_away_from_main(scripted):
    scripted.says("Lesson one.", "Yes.")
    scripted.git("checkout", "-q", "-b", "elsewhere")
    scripted.event(DONE)
    scripted.drains()
    assert isinstance(scripted.event(Manual("test")), Reserve)


def test_what_is_reserved_beside_a_tip_that_waits_runs_and_the_tip_merges_later(scripted):
    scripted.says("Lesson one. Dirty.", "Yes.", session="one")
    scripted.event(DONE)
    first, *_ = scripted.drains()
    assert outcomes([first]) == ["parent_dirty"]
    scripted.says("Lesson two.", "Yes.", session="two")
    scripted.event(DONE)
    assert "merged" in outcomes(scripted.drains())
    scripted.git("add", "-A")
    scripted.git("reset", "-q", "--hard")
    again, *_ = scripted.drains()
    assert (again.id, *outcomes([again])) == (first.id, "merged")
    assert again.settlement.usage == first.settlement.usage


def test_what_is_asked_for_while_an_empty_round_ends_is_not_left_lying(scripted, monkeypatch):
    scripted.says("Lesson one.", "Yes.")
    release = Lock.release
    times: list[int] = []

    def releases(self):
        if self.path.name == "run-reflection.lock" and not times:
            times.append(1)
            # An event comes now: it finds the slot owned and relies on the owner.
            assert handle(scripted.context(), DONE, OWNS).supervisor == "busy"
        release(self)

    monkeypatch.setattr(Lock, "release", releases)
    assert outcomes(scripted.drains()) == ["merged"]


def test_after_a_conflict_the_same_is_not_tried_at_once(scripted):
    scripted.says("Lesson one. Collide 9.", "Yes.")
    scripted.event(DONE)
    assert outcomes(scripted.drains()) == ["merge_conflict"]


def test_what_reached_its_threshold_beside_a_run_starts_after_it(scripted, monkeypatch):
    scripted.says("Lesson one.", "Yes.", session="one")
    scripted.event(DONE)
    supervise = supervisor.supervise

    def slowly(bench, run):
        if "two" not in scripted.talks:
            scripted.says("Lesson two.", "Yes.", session="two")
            assert handle(scripted.context(), DONE, OWNS).as_json()["why"] == "active"
        return supervise(bench, run)

    monkeypatch.setattr(loop, "supervise", slowly)
    assert outcomes(scripted.drains()) == ["merged", "merged"]


def test_failures_back_off_then_park_then_probe_and_success_clears(scripted):
    scripted.says("Lesson one.", "Yes.")
    scripted.provider("quota")
    for _ in range(20):
        scripted.event(DONE)
        scripted.drains()
        scripted.clock.sleep(400)
    state = scripted.repo.parent / "state.db"
    failed = rows(state, "SELECT reason FROM runs")
    assert [row["reason"] for row in failed] == [Reason.QUOTA] * 6
    scripted.clock.sleep(6 * 3600)
    scripted.provider("")
    assert describe(scripted.event(DONE)) == "reserved a run (step-count)"
    assert outcomes(scripted.drains()) == ["merged"]
    assert '"state": "watching"' in rows(state, "SELECT state FROM parks")[0]["state"]


def test_the_answer_to_a_refusal_says_when_asking_again_may_help(scripted):
    scripted.says("Lesson one.", "Yes.")
    scripted.provider("quota")
    scripted.event(DONE)
    scripted.drains()
    answer = Answer(scripted.event(DONE), "none").as_json()
    assert (answer["decision"], answer["why"]) == ("refused", "back_off")
    assert answer["until"].startswith("2026-11-30T12:00:2")
    assert front._NAMES.keys() >= {type(scripted.event(DONE))}
