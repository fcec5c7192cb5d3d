"""Whoever extracts may die at any step: nothing is lost, nothing is doubled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.run import Phase
from reflector.runtime.background import worker
from reflector.runtime.experiences import reserving
from reflector.runtime.loop import Quiet
from reflector.store import aftermath, reservations, segments
from tests.support.auditor import audit
from tests.support.dying import DeathError, dying
from tests.support.segments import QUIET, Person, experience, fact, in_process, person

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    with person(tmp_path) as made:
        in_process(made, monkeypatch)
        made.model.learns["full disk"] = {
            "experiences": [experience("Free space", "Look with df first.")],
            "fact": fact("/data", "It is full."),
        }
        made.works("We have a full disk, I think", "It is full.")
        made.clock.sleep(QUIET)
        yield made


def works(scene: Person) -> list[str | None]:
    """Be the worker until nothing can be done; return how its runs ended."""
    done = worker.work(scene.context(), "experiences", Quiet(), ("false",))
    return [run.outcome for run in done or ()]


def holds(scene: Person) -> None:
    """Assert that what was learned is written once, and the cursor is behind it."""
    assert [len(scene.kept(folder)) for folder in ("experiences/", "facts/")] == [0, 1]
    assert scene.cursor() == 2
    assert scene.git("rev-list", "--merges", "--count", "main").strip() == "1"
    audit(scene.home)


def test_a_worker_extracts_until_nothing_is_due(scene: Person):
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


def test_a_death_between_reserving_and_running_leaves_the_segment_to_the_next_run(
    scene: Person, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(reserving, "supervise", dying(lambda *_: None, lambda *_: True))
        with pytest.raises(DeathError):
            works(scene)
    assert works(scene) == ["failed", "merged"]
    holds(scene)


def test_a_death_while_the_end_is_recorded_records_all_of_it_or_nothing(scene: Person, monkeypatch):
    with monkeypatch.context() as patch:
        # After the run is settled and its cursor is moved, before the transaction ends.
        patch.setattr(segments, "save_record", dying(segments.save_record, lambda *_: True))
        with pytest.raises(DeathError):
            works(scene)
    assert scene.cursor() == 0
    assert works(scene) == ["merged"]
    holds(scene)


def test_a_worker_that_dies_again_and_again_while_it_merges_counts_against_the_segment(
    scene: Person, monkeypatch
):
    with monkeypatch.context() as patch:
        advance = dying(reservations.advance, lambda *words: words[4] is Phase.VALIDATING)
        patch.setattr(reservations, "advance", advance)
        with pytest.raises(DeathError):
            works(scene)
    with monkeypatch.context() as patch:
        patch.setattr(aftermath, "note_death", dying(aftermath.note_death, lambda *_: True))
        with pytest.raises(DeathError):
            works(scene)
    assert works(scene) == ["merged"]
    holds(scene)
