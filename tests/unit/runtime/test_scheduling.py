"""Events against a real database: what is decided, what of it is written, and what dreams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reflector.core.schedule import (
    CompactionAccepted,
    Idle,
    Manual,
    Mark,
    Nothing,
    Queue,
    Refuse,
    Reserve,
    Settled,
    Shutdown,
    Why,
)
from reflector.runtime import scheduling as runtime_scheduling
from reflector.runtime.scheduling import Memory, Scheduler
from reflector.store import journal, reservations, scheduling
from reflector.store.locks import Owner
from reflector.vcs import glance as git_glance
from reflector.vcs.scrub import Scrubbed
from tests.support.auditor import rows
from tests.support.clocks import WHEN
from tests.support.scenes import SCRIPTED, Scene

ME = Owner("host", "boot", 1, "a" * 32)
HOUR = 3600.0
DONE = Settled(success=True)
CONFIG = "[trigger]\nstep_count = 2\n"


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, CONFIG, engine=SCRIPTED)


def ledger(scene: Scene) -> list[tuple[str, str, str]]:
    found = rows(
        scene.repo.parent / "state.db",
        "SELECT pipeline, trigger, state FROM runs ORDER BY reserved_at, rowid",
    )
    return [tuple(row) for row in found]


def last_dream(scene: Scene) -> str | None:
    with scene.context().state() as state:
        return scheduling.mark(state.connection, runtime_scheduling.LAST_DREAM)


def settle(scene: Scene, outcome: str = "no_changes") -> None:
    """Let whatever is active end."""
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute(
            "UPDATE runs SET state = 'settled', phase = 'completed', outcome = ? "
            "WHERE state = 'active'",
            (outcome,),
        )


def with_scheduler(scene: Scene, act: Callable[[Scheduler], Any]) -> Any:
    found = scene.context()
    with found.state() as state:
        return act(Scheduler(found, state, scene.engine))


# Reservations


def test_below_the_threshold_nothing_is_written(scene):
    scene.says("Hello.", "Yes.")
    assert scene.event(DONE) == Nothing(Why.BELOW_THRESHOLD)
    assert ledger(scene) == []


def test_at_the_threshold_a_run_is_reserved_for_whoever_takes_the_slot(scene):
    scene.says("Hello.", "Yes.", "And?", "And.")
    assert isinstance(scene.event(DONE), Reserve)
    assert ledger(scene) == [("reflection", "step-count", "active")]
    assert scene.event(DONE) == Nothing(Why.ACTIVE)
    run = with_scheduler(scene, lambda scheduler: scheduler.take_over("reflection", ME))
    assert [each.entries for each in run.snapshots] == [4]
    assert with_scheduler(scene, lambda scheduler: scheduler.take_over("reflection", ME)) is None


def test_a_compaction_marks_once_and_is_over_when_the_cursor_has_passed_it(scene):
    scene.says("Hello.", "Yes.")
    assert isinstance(scene.event(CompactionAccepted("jsonl/talk", "b1")), Mark)
    decision = scene.event(DONE)
    assert isinstance(decision, Reserve)
    assert decision.asked.request.trigger == "compaction"
    with scene.context().state() as state, state.transaction() as connection:
        (run,) = reservations.active(connection)
        journal.consume(connection, run.snapshots[0])
    settle(scene)
    scene.says("More?", "More.")
    scene.event(CompactionAccepted("jsonl/talk", "b1"))
    assert scene.event(DONE) == Nothing(Why.BELOW_THRESHOLD)
    scene.event(CompactionAccepted("jsonl/talk", "b2"))
    assert isinstance(scene.event(DONE), Reserve)


def test_a_shutdown_beside_a_run_waits_and_starts_next(scene):
    scene.says("Hello.", "Yes.", "And?", "And.")
    scene.event(DONE)
    scene.says("Hello.", session="other")
    assert isinstance(scene.event(Shutdown()), Queue)
    settle(scene, "failed")
    run = with_scheduler(scene, lambda scheduler: scheduler.next_run("reflection", ME))
    assert {each.conversation for each in run.snapshots} == {"jsonl/talk", "jsonl/other"}
    assert run.request.trigger == "shutdown"


def test_what_waits_behind_a_request_that_has_nothing_left_to_read_is_not_forgotten(
    scene, monkeypatch
):
    scene.says("Hello.", "Yes.", "And?", "And.")
    scene.event(DONE)
    scene.clock.sleep(HOUR)
    assert isinstance(scene.event(Shutdown()), Queue)
    assert isinstance(scene.event(Idle()), Queue)
    settle(scene, "failed")
    # Of what the stronger one asks for there is nothing to be read when it starts.
    monkeypatch.setattr(scheduling, "cut", lambda *_: ())
    run = with_scheduler(scene, lambda scheduler: scheduler.next_run("reflection", ME))
    assert run.request.pipeline == "dream"


def test_manual_requests_pass_a_park_and_automatic_ones_do_not(scene):
    scene.says("Hello.", "Yes.", "And?", "And.")
    park(scene, WHEN)
    until = WHEN + timedelta(hours=6)
    assert scene.event(DONE) == Refuse(Why.PARKED, until)
    assert isinstance(scene.event(Manual(origin="cli")), Reserve)


def test_one_probe_is_admitted_and_its_time_is_stored_before_it_starts(scene):
    scene.says("Hello.", "Yes.", "And?", "And.")
    park(scene, WHEN)
    scene.clock.sleep(6 * HOUR)
    assert isinstance(scene.event(DONE), Reserve)
    settle(scene, "failed")
    assert isinstance(scene.event(DONE), Refuse)
    scene.clock.sleep(6 * HOUR)
    assert isinstance(scene.event(DONE), Reserve)


def park(scene: Scene, at) -> None:
    from reflector.core.failure import Failure
    from reflector.core.park import FailedRun, Watching, after_failure

    failure = Failure("f" * 16, retryable=False, fatal=True, scope="provider")
    run = FailedRun("r", frozenset({"x"}), "auth", "401", "s")
    state, parked = after_failure(Watching(), run, failure, at, automatic=True)
    assert parked
    with scene.context().state() as opened, opened.transaction() as connection:
        scheduling.save_park(connection, "scripted", state)


# Dreams


def test_after_an_idle_time_a_dream_is_reserved_and_its_time_is_stored_before_it_starts(scene):
    scene.says("Hello.", "Yes.")
    assert scene.event(Idle()) == Nothing(Why.NOT_IDLE)
    scene.clock.sleep(HOUR)
    assert isinstance(scene.event(Idle()), Reserve)
    assert last_dream(scene) == (WHEN + timedelta(hours=1)).isoformat()
    settle(scene, "failed")
    scene.says("Hello again.", session="later")
    scene.clock.sleep(HOUR)
    assert scene.event(Idle()) == Nothing(Why.TOO_SOON)


def test_idle_ticks_dream_once_and_not_again_of_nothing_new(scene):
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(HOUR)
    for _ in range(20):
        scene.event(Idle())
        settle(scene)
        scene.clock.sleep(6 * HOUR)
    assert [row for row in ledger(scene) if row[0] == "dream"] == [("dream", "idle", "settled")]


def test_dreams_that_were_missed_are_caught_up_once(scene):
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(24 * HOUR * 9)
    assert isinstance(scene.event(Idle()), Reserve)
    settle(scene)
    assert scene.event(Idle()) == Nothing(Why.TOO_SOON)
    scene.clock.sleep(24 * HOUR)
    assert scene.event(Idle()) == Nothing(Why.NOTHING_NEW)


def test_a_dream_reads_without_moving_a_cursor(scene):
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(HOUR)
    scene.event(Idle())
    run = with_scheduler(scene, lambda scheduler: scheduler.take_over("reflection", ME))
    assert [each.mode for each in run.snapshots] == ["replay"]


def test_pressure_alone_dreams_once_for_each_state_of_the_memory(scene):
    scene.clock.sleep(HOUR)
    assert scene.event(Idle(), Memory(pressure=False)) == Nothing(Why.NOTHING_NEW)
    decision = scene.event(Idle(), Memory(pressure=True))
    assert isinstance(decision, Reserve)
    assert decision.asked.request.trigger == "pressure"
    settle(scene)
    scene.clock.sleep(48 * HOUR)
    assert scene.event(Idle(), Memory(pressure=True, changed=False)) == Nothing(Why.NOTHING_NEW)
    assert isinstance(scene.event(Idle(), Memory(pressure=True)), Reserve)


def test_a_system_tier_over_its_share_is_pressure_until_it_was_dreamt_of(scene):
    human = scene.repo / "system" / "human.md"
    human.write_text(human.read_text() + "\n- " + "words " * 2000 + "\n")
    scene.git("commit", "-q", "-a", "-m", "by hand")
    decision = scene.event(Idle())
    assert isinstance(decision, Reserve)
    assert decision.asked.request.trigger == "pressure"
    settle(scene)
    scene.clock.sleep(48 * HOUR)
    assert scene.event(Idle()) == Nothing(Why.NOTHING_NEW)


def test_an_engine_that_cannot_dream_never_dreams_and_asks_no_git(tmp_path, monkeypatch):
    scene = Scene(tmp_path, CONFIG)
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(HOUR)

    def looked(*_args: object) -> object:
        raise AssertionError

    monkeypatch.setattr(git_glance, "glance", looked)
    assert scene.event(Idle()) == Nothing(Why.CANNOT_DREAM)
    assert ledger(scene) == []


def test_git_is_asked_only_when_pressure_is_all_that_is_left_to_dream_of(scene, monkeypatch):
    asked: list[int] = []
    glance = git_glance.glance

    def counted(scrubbed: Scrubbed, repo: Path) -> git_glance.Glance:
        asked.append(1)
        return glance(scrubbed, repo)

    monkeypatch.setattr(git_glance, "glance", counted)
    scene.says("Hello.", "Yes.")
    assert scene.event(Idle()) == Nothing(Why.NOT_IDLE)
    scene.clock.sleep(HOUR)
    assert asked == []
    assert isinstance(scene.event(Idle()), Reserve)
    settle(scene)
    asked.clear()
    assert scene.event(Idle()) == Nothing(Why.TOO_SOON)
    assert asked == []
    scene.clock.sleep(24 * HOUR)
    assert scene.event(Idle()) == Nothing(Why.NOTHING_NEW)
    assert asked == [1]


def test_turned_off_dreams_are_not_reserved(tmp_path):
    scene = Scene(tmp_path, "[dream]\nenabled = false\n", engine=SCRIPTED)
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(HOUR)
    assert scene.event(Idle()) == Nothing(Why.DISABLED)


def test_the_runs_of_a_day_are_limited_for_engines_that_call_a_model(tmp_path):
    scene = Scene(tmp_path, CONFIG + "[day]\nmax_runs = 1\n", engine=SCRIPTED)
    scene.says("Hello.", "Yes.", "And?", "And.")
    assert isinstance(scene.event(DONE), Reserve)
    with scene.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE runs SET started_at = ?", ("2026-11-30T12:00:00.000Z",))
    settle(scene, "failed")
    refused = scene.event(DONE)
    assert isinstance(refused, Refuse)
    assert refused.why is Why.DAY_RUNS
    scene.engine = replace(SCRIPTED, calls_model=False)
    assert isinstance(scene.event(DONE), Reserve)
