"""Whoever works for decisions may die at any step: nothing is lost, nothing is doubled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.run import Phase
from reflector.runtime import supervisor
from reflector.runtime.background import worker
from reflector.runtime.background.beginning import begin, wanted
from reflector.runtime.decisions import consolidation, settling
from reflector.runtime.loop import Quiet
from reflector.store import bullets, decisions, reservations
from reflector.store.locks import Lock
from tests.support.auditor import audit
from tests.support.dying import DeathError, dying
from tests.support.projects import OVERLOADED, Person, delta, here, person

pytestmark = pytest.mark.slow

RIGHT = "Status bar: solid right edge, no bold."
TYPED = "It broke again, the right edge of the status bar"


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(supervisor, "run_child", here)
    with person(tmp_path) as made:
        made.model.hears["broke again"] = [delta(RIGHT, "broke again", "regression")]
        made.types(TYPED, "Sorry.")
        yield made


def works(scene: Person) -> list[str | None]:
    """Be the worker until nothing can be done; return how its runs ended."""
    done = worker.work(scene.context(), "decisions", Quiet(), ("false",))
    return [run.outcome for run in done or ()]


def holds(scene: Person) -> None:
    """Assert that what was said is written once, and known to be."""
    assert scene.file("product").count(RIGHT) == 1
    with scene.context().state() as state:
        [one] = decisions.ledger(state.connection)
        [bullet] = bullets.every(state.connection, scene.bank())
    assert one.consumed_by == bullet.run != ""
    audit(scene.home)


def test_a_worker_extracts_and_consolidates_until_nothing_is_left(scene: Person):
    assert works(scene) == ["merged"]
    holds(scene)
    assert works(scene) == []


@pytest.mark.parametrize(
    "phase",
    [
        Phase.PROVISIONING,
        Phase.RUNNING,
        Phase.VALIDATING,
        Phase.INTEGRATING,
        Phase.INTEGRATED,
    ],
)
def test_the_next_worker_finishes_what_a_dead_one_began(scene: Person, monkeypatch, phase: Phase):
    with monkeypatch.context() as patch:
        advance = dying(reservations.advance, lambda *words: words[4] is phase)
        patch.setattr(reservations, "advance", advance)
        with pytest.raises(DeathError):
            works(scene)
    ended = works(scene)
    if phase in (Phase.PROVISIONING, Phase.RUNNING):  # nothing was done: tried again in its time
        assert ended == ["failed", "merged"]
    else:
        assert ended == ["merged"]
    holds(scene)


def test_a_death_between_reserving_and_running_leaves_the_deltas_to_the_next_run(
    scene: Person, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(consolidation, "supervise", dying(lambda *_: None, lambda *_: True))
        with pytest.raises(DeathError):
            works(scene)
    assert works(scene) == ["failed", "merged"]
    holds(scene)


def test_a_death_while_the_end_is_recorded_records_all_of_it_or_nothing(scene: Person, monkeypatch):
    with monkeypatch.context() as patch:
        # After the run is settled and its deltas are consumed, before the transaction ends.
        patch.setattr(settling, "settled", dying(settling.settled, lambda *_: True))
        with pytest.raises(DeathError):
            works(scene)
    with scene.context().state() as state:
        assert [one.consumed_by for one in decisions.ledger(state.connection)] == [""]
    assert works(scene) == ["merged"]
    holds(scene)


def test_a_worker_waits_for_a_provider_that_comes_back_and_leaves_a_dead_one(scene: Person):
    scene.model.down = OVERLOADED
    assert works(scene) == []
    assert len(scene.model.requests) == 6 * 4
    with scene.context().state() as state:
        assert not wanted(scene.context(), state, "decisions")


def test_a_worker_waits_for_the_interval_and_takes_what_comes_meanwhile(scene: Person):
    works(scene)
    other = "Tabs stay where they were."
    scene.model.hears["tabs"] = [delta(other, "tabs", "regression")]
    scene.types("the tabs are gone again, sorry to say", session="other")
    before = scene.clock.passed
    assert works(scene) == ["merged"]
    assert 280 < scene.clock.passed - before < 320
    assert other in scene.file("product")


def test_an_event_starts_one_worker_and_only_when_there_is_something_to_do(
    scene: Person, monkeypatch
):
    started: list[object] = []

    class Process:
        returncode = None

    def start(*words: object) -> Process:
        started.append(words)
        return Process()

    monkeypatch.setattr("reflector.runtime.detached.start", start)
    assert begin(scene.context())
    works(scene)
    assert not begin(scene.context())
    scene.types("and a message that is long enough to be read", session="third")
    presence = Lock(scene.context().agent.lock("run-decisions"))
    assert presence.take()
    assert not begin(scene.context())
    presence.release()
    assert begin(scene.context())
    assert len(started) == 2
