"""Prompts that went on before what they recall came are counted, for a week, and a person is told."""

from __future__ import annotations

import io
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reflector.core.ambient import stamp
from reflector.runtime import notices, too_late
from reflector.runtime.doctor import doctor
from reflector.runtime.too_late import Week
from reflector.store import recall_uses
from reflector.surface import hook
from reflector.surface.cli.main import main
from tests.support.clocks import WHEN
from tests.support.scenes import Scene

ON = "[recall]\ninject = true\n"
ITEM = "experiences/keys-0badcafe.md"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, config=ON)


def counted(scene: Scene, *, shown: int = 0, late: int = 0, ago: int = 0) -> None:
    day = stamp(WHEN - timedelta(days=ago))[:10]
    with scene.context().state() as state, state.transaction() as connection:
        for number in range(shown + late):
            too_late.add(connection, day, late=number < late)


def week(scene: Scene, now: datetime = WHEN) -> Week:
    with scene.context().state() as state:
        return too_late.week(state.connection, now)


def told(scene: Scene) -> list[str]:
    found = scene.context()
    with found.state() as state:
        return [text for code, text in notices.notices(found, state) if code == "beside_late"]


def test_what_is_older_than_a_week_does_not_count(scene):
    for ago, late in ((6, 1), (7, 2), (0, 4)):
        counted(scene, late=late, shown=1, ago=ago)
    assert week(scene) == Week(shown=2, late=5)


def test_a_month_of_prompts_leaves_a_week_of_days(scene):
    for ago in range(30, -1, -1):
        counted(scene, late=1, ago=ago)
    with scene.context().state() as state:
        (kept,) = state.connection.execute(
            "SELECT value FROM marks WHERE name = 'beside_late'"
        ).fetchone()
    assert kept.count(":") == 7
    assert week(scene).late == 7


def test_a_person_is_told_of_it_where_it_happened_and_is_switched_on(scene):
    counted(scene, shown=3)
    assert told(scene) == []
    counted(scene, late=1)
    (sentence,) = told(scene)
    assert "Of 4 prompts in 7 days that recall something 1 went on without it" in sentence
    scene.home.joinpath("config.toml").write_text("", "utf-8")
    assert told(scene) == []


@pytest.mark.parametrize(
    ("found", "slow"),
    [(Week(0, 4), False), (Week(15, 5), True), (Week(16, 5), False), (Week(100, 0), False)],
)
def test_it_is_a_finding_when_a_quarter_comes_too_late_and_not_once_or_twice(found, slow):
    assert found.slow is slow


def test_doctor_tells_of_it_once_anything_was_counted(scene):
    def beside() -> list[bool]:
        return [check.ok for check in doctor(scene.context()) if check.name == "beside"]

    assert beside() == []
    counted(scene, shown=1)
    assert beside() == [True]
    counted(scene, late=5)
    assert beside() == [False]


@pytest.fixture
def asked(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    """Ask as a hook does, in this process, through a real pipe that the hook may have left."""
    place = scene.repo / ITEM
    place.parent.mkdir(exist_ok=True)
    place.write_text("---\ndescription: Rotate the signing keys\n---\nUse keyctl, monthly.\n")
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "by hand")

    def ask(prompt: str, *, waits: bool) -> Week:
        ours, theirs = os.pipe()
        if not waits:
            os.close(ours)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(prompt.encode())))
        with os.fdopen(theirs, "w", encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            words = ("recall", "--beside", "s-1", "--home", str(scene.home), "--cwd", "/")
            assert main(words) == 0
        if waits:
            os.close(ours)
        return week(scene, datetime.now(UTC))

    return ask


def used(scene: Scene) -> list[str]:
    with scene.context().state() as state:
        return list(recall_uses.uses(state.connection))


def test_an_answer_that_nobody_waits_for_any_more_is_late_and_no_use(scene, asked):
    assert asked("please rotate the signing keys", waits=False) == Week(shown=0, late=1)
    assert used(scene) == []
    assert asked("please rotate the signing keys", waits=True) == Week(shown=1, late=1)
    assert used(scene) == [ITEM]


@pytest.mark.parametrize("waits", [True, False])
def test_a_prompt_that_recalls_nothing_is_never_late(asked, waits):
    assert asked("thanks a lot!", waits=waits) == Week(shown=0, late=0)


def test_the_sentence_names_the_time_that_a_hook_waits():
    assert f", {hook._SECONDS_INJECTING} s." in Week(shown=1, late=1).sentence
