"""What a session begins with: written for the hook, told once, and never more than was shown."""

from __future__ import annotations

import json

import pytest

from reflector.core import park
from reflector.harness.limits import NOTICE_CHARS, wide
from reflector.runtime import news, notice_file, notices
from reflector.runtime.scheduling import route_settings
from reflector.store import scheduling
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def learn(scene: Scene, run: str, things: int = 1) -> None:
    with scene.context().state() as state, state.transaction() as connection:
        news.learned_more(connection, run, things)


def written(scene: Scene) -> tuple[str, str]:
    """Write the file, and read it as the hook does: stamp and text."""
    notice_file.refresh(scene.context())
    file = scene.context().agent.path / "notice"
    if not file.exists():
        return "", ""
    head, _, text = file.read_text("utf-8").partition("\n\n")
    kind, _, stamp = head.partition("\n")
    assert kind == "reflector-notice 1"
    return stamp, text


def tell(scene: Scene, stamp: str) -> None:
    context = scene.context()
    with context.state() as state, state.transaction() as connection:
        notices.told(context, connection, stamp)


def parked(scene: Scene, detail: str = "") -> None:
    """Park the route by a fatal failure now."""
    context = scene.context()
    now = scene.clock.now()
    last = park.LastFailure("run", now, "f", "fatal", "auth", detail)
    streak = park.Streak(1, 1, frozenset(), now, last)
    with context.state() as state, state.transaction() as connection:
        held = park.Parked(streak, now, route_settings(context.settings))
        scheduling.save_park(connection, context.settings.text("engine.name"), held)


def test_nothing_to_say_is_no_file(scene):
    assert written(scene) == ("", "")
    learn(scene, "r-1")
    assert written(scene)[1]
    tell(scene, written(scene)[0])
    assert written(scene) == ("", "")


def test_what_was_learned_is_told_once(scene):
    learn(scene, "r-1", 2)
    stamp, text = written(scene)
    assert text == "Reflector: Learned 2 things since the last session: `reflector show r-1`."
    tell(scene, stamp)
    tell(scene, stamp)
    assert written(scene)[1] == ""


def test_what_came_after_a_session_began_stays_for_the_next(scene):
    learn(scene, "r-1", 2)
    scene.says(f"Use {TOKEN}", "Fine.")
    stamp, _ = written(scene)
    learn(scene, "r-2", 3)
    scene.says(f"And {TOKEN}", "Fine.", session="other")
    tell(scene, stamp)
    _, text = written(scene)
    assert "Learned 3 things since the last session: `reflector show r-2`." in text
    assert "1 secret was replaced" in text
    assert "r-1" not in text


def test_two_sessions_that_began_with_the_same_take_away_no_more_than_one(scene):
    learn(scene, "r-1")
    scene.says(f"Use {TOKEN}", "Fine.", f"and {TOKEN}")
    stamp, _ = written(scene)
    learn(scene, "r-2")
    scene.says(f"And {TOKEN}", "Fine.", session="other")
    for _ in range(3):
        tell(scene, stamp)
    _, text = written(scene)
    assert "1 secret was replaced" in text
    assert "Learned 1 thing since the last session: `reflector show r-2`." in text
    tell(scene, written(scene)[0])
    assert written(scene)[1] == ""


def test_a_stamp_of_nobody_takes_nothing_away(scene):
    learn(scene, "r-1")
    before = written(scene)
    for stamp in (
        "",
        "{",
        "[]",
        "7",
        '{"typed": 7, "learned": 3}',
        '{"learned": "r-9"}',
        '{"typed": {"a": []}}',
        "[" * 9999,
    ):
        tell(scene, stamp)
    assert written(scene) == before


def test_a_pause_of_automatic_runs_is_told_once_without_the_error_s_words(scene):
    parked(scene, detail="CANARY")
    stamp, text = written(scene)
    assert text.startswith("Reflector: Automatic runs pause since 20")
    assert "CANARY" not in text
    tell(scene, stamp)
    assert written(scene)[1] == ""


def test_another_pause_is_not_taken_for_the_one_that_was_told(scene):
    parked(scene)
    stamp, _ = written(scene)
    scene.clock.sleep(60)
    parked(scene)
    tell(scene, stamp)
    assert "Automatic runs pause" in written(scene)[1]


def test_a_pause_of_long_ago_is_no_news(scene):
    parked(scene)
    scene.clock.sleep(8 * 86400)
    assert written(scene)[1] == ""


def test_an_unreadable_transcript_is_told_once_and_another_one_again(scene):
    for name in ("one", "two"):
        place = scene.write("Hello.", "Yes.", session=name)
        scene.says("Hello.", session=name)
        with scene.context().state() as state, state.transaction() as connection:
            connection.execute(
                "UPDATE sources SET degraded = 'x' WHERE path = ?", (str(place.resolve()),)
            )
        stamp, text = written(scene)
        assert "could not be read: `reflector status`" in text
        assert str(place) not in text
        tell(scene, stamp)
        assert written(scene)[1] == ""


def test_without_notices_nothing_is_shown(tmp_path):
    scene = Scene(tmp_path, "notice = false\n")
    learn(scene, "r-1")
    parked(scene)
    (scene.context().agent.path / "notice").write_text("an older one")
    assert written(scene) == ("", "")


def test_a_text_keeps_to_its_room_in_whole_sentences():
    sentences = tuple(f'{number} "things" \\ were learned.' for number in range(40))
    text = notice_file.shortened(sentences)
    assert wide(json.dumps(text, ensure_ascii=False)) <= NOTICE_CHARS
    assert text.endswith("learned. More: `reflector status`.")
    assert text.startswith('Reflector: 0 "things"')
    assert notice_file.shortened(("x" * 999,)) == "Reflector: More: `reflector status`."
