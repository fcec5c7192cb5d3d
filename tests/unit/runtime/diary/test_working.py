"""The diary's worker: begun by what waits, does all of it, and once a day it sleeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.errors import ReflectorError
from reflector.runtime import log
from reflector.runtime.background import beginning, worker
from reflector.runtime.background.pipelines import SLOTS, background
from reflector.runtime.diary import background as diary
from reflector.runtime.diary import outlook
from reflector.runtime.loop import Quiet
from reflector.store import diary as queue
from tests.support.companions import OVERLOADED, TALK, Companion, companion, entry

pytestmark = pytest.mark.slow

MOVED = "By the way, a friend of mine moved away."
WROTE = "They said it lightly that a friend moved away."


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Companion]:
    with companion(tmp_path) as made:
        made.model.writes["moved away"] = entry(WROTE)
        yield made


def wanted(home: Companion) -> tuple[bool, bool]:
    """Return whether anything waits, and whether a worker would do something now."""
    with home.context().state() as state:
        return diary.anything(state.connection), diary.wanted(home.context(), state)


def row(home: Companion) -> dict[str, object]:
    with home.context().state() as state:
        return outlook.as_json(home.context(), state.connection)


def test_a_worker_is_wanted_while_a_turn_waits_and_does_everything(home: Companion):
    assert "diary" in SLOTS
    assert background("diary") is diary
    assert wanted(home) == (False, False)
    home.says(MOVED, "Oh.")
    assert wanted(home) == (True, True)
    assert row(home)["queued"] == 1
    worker.work(home.context(), "diary", Quiet())
    assert home.texts() == [WROTE]
    assert wanted(home) == (True, False)
    assert (row(home)["queued"], row(home)["waiting"]) == (0, 0)
    home.night()
    assert wanted(home) == (True, True)
    worker.work(home.context(), "diary", Quiet())
    assert "<diary_items>" in home.model.shown[-1]
    assert row(home)["last_run"]
    assert wanted(home) == (False, False)


def test_an_event_begins_a_worker_only_when_one_is_wanted(home: Companion):
    none = ("true",)
    assert beginning.begin(home.context(), none) == ()
    home.says(MOVED, "Oh.")
    assert "diary" in beginning.begin(home.context(), none)
    home.model.down = OVERLOADED
    home.writes()
    assert "diary" not in beginning.begin(home.context(), none)


def test_nothing_is_done_for_a_diary_that_was_turned_off(home: Companion):
    home.says(MOVED, "Oh.")
    (home.home / "config.toml").write_text(home.config.replace("enabled = true", "enabled = false"))
    assert wanted(home) == (True, False)
    worker.work(home.context(), "diary", Quiet())
    assert home.model.requests == []
    assert not home.diary.exists
    home.says("another turn that nobody notes", "Yes.")
    assert row(home)["queued"] == 1


def test_a_dropped_turn_is_logged_without_a_word_of_it(home: Companion):
    home.model.writes = {"moved away": "no"}
    home.says(MOVED, "Oh.")
    found = home.context()
    with log.opened(found.agent.log, identity="default"):
        worker.work(found, "diary", Quiet())
    told = found.agent.log.read_text("utf-8")
    assert '"turn.dropped"' in told
    assert "unreadable" in told
    assert "moved" not in told


def test_a_diary_of_a_newer_program_is_left_alone_and_asks_nobody_for_a_while(home: Companion):
    home.diary.open()
    place = home.diary.path / "diary.json"
    newer = place.read_text("utf-8").replace('"schema": 1', '"schema": 99')
    assert "99" in newer
    place.write_text(newer, "utf-8")
    home.diary_git("commit", "-qam", "newer")
    home.says(MOVED, "Oh.")
    with pytest.raises(ReflectorError):
        worker.work(home.context(), "diary", Quiet())
    assert wanted(home) == (True, False)
    assert row(home)["last_error"]
    assert place.read_text("utf-8") == newer
    home.diary_git("revert", "--no-edit", "HEAD")
    home.clock.sleep(3600)
    assert wanted(home) == (True, True)
    worker.work(home.context(), "diary", Quiet())
    assert (home.texts(), row(home)["last_error"]) == ([WROTE], None)


def test_a_turn_that_is_taken_back_after_it_was_written_goes_again(home: Companion):
    home.says(MOVED, "Oh.")
    home.writes()
    assert home.texts() == [WROTE]
    with home.context().state() as state, state.transaction() as connection:
        for _ in range(2):
            queue.skip_turn(connection, TALK)
    assert wanted(home) == (True, True)
    worker.work(home.context(), "diary", Quiet())
    assert home.texts() == []
    assert home.counts().skipped == {"asked": 1}
    assert len(home.kept().tombstones) == 1
