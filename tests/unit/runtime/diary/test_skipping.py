"""A turn that a person leaves out is not read for the diary."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.core.errors import BusyError, NotFoundError
from reflector.runtime.diary.repository import DiaryOffError
from reflector.runtime.diary.skipping import Skipped, skip
from reflector.store import diary as queue
from reflector.store.locks import Lock
from tests.support.scenes import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, "diary.enabled = true\n")


def waiting(scene: Scene) -> list[int]:
    with scene.context().state() as state:
        return [job.turn for job in queue.jobs(state.connection, "heard")]


def test_the_present_turn_of_the_conversation_that_spoke_last_is_left_out(scene):
    scene.says("One.", "Yes.", session="first")
    scene.clock.sleep(60)
    scene.says("Two.", "Yes.", "Between us: three.", session="second")
    assert waiting(scene) == [1, 1, 2]
    assert skip(scene.context()) == Skipped("jsonl/second", 2)
    assert waiting(scene) == [1, 1]


def test_a_conversation_can_be_named(scene):
    scene.says("One.", session="first")
    scene.clock.sleep(60)
    scene.says("Two.", session="second")
    assert skip(scene.context(), "jsonl/first").conversation == "jsonl/first"
    assert waiting(scene) == [1]


@pytest.mark.parametrize("conversation", ["", "jsonl/nobody"])
def test_where_nothing_was_said_there_is_nothing_to_leave_out(scene, conversation):
    with pytest.raises(NotFoundError):
        skip(scene.context(), conversation)


def test_while_others_journal_the_turn_before_is_not_taken_for_this_one(scene):
    scene.says("One.")
    (scene.home / "spool" / "2026-11-30.jsonl").write_text('{"time":"1","harness":"x"}\n')
    drainer = Lock(scene.home / "locks" / "ingest.lock")
    assert drainer.take()
    with pytest.raises(BusyError):
        skip(scene.context())
    drainer.release()
    assert waiting(scene) == [1]


def test_switched_off_there_is_nothing_to_leave_out(tmp_path):
    with pytest.raises(DiaryOffError):
        skip(Scene(tmp_path).context())


def test_a_conversation_that_is_no_text_is_named_as_one_that_is_not_there(scene):
    with pytest.raises(NotFoundError):
        skip(scene.context(), "jsonl/\udcff")
