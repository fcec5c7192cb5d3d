"""The long-lived supervisor: overdue work, fairness, trouble that stays its own."""

from __future__ import annotations

import pytest

from reflector.core.errors import BusyError
from reflector.core.schedule import Settled, Shutdown
from reflector.runtime import daemon as daemons
from reflector.runtime import supervisor
from reflector.runtime.daemon import Daemon
from reflector.runtime.loop import REFLECTION
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.store.locks import Lock
from tests.support.auditor import rows
from tests.support.journals import ME
from tests.support.scenes import SCRIPTED, Inline, Scene, Stage

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stage")]

HOUR = 3600.0
DONE = Settled(success=True)
CONFIG = "[trigger]\nstep_count = 1\n[snapshot]\nmax_bytes = 400\n[run]\nmax_bytes = 400\n[dream]\nenabled = false\n"
TWO = ("alpha", "beta")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    made = Stage(tmp_path)
    monkeypatch.setattr(supervisor, "run_child", made)
    return made


class Watched:
    """A daemon whose words are kept."""

    def __init__(self, scene: Scene, identity: str = "default", stop=lambda: False) -> None:
        self.said: list[str] = []
        found, hands = scene.context(identity), Inline(scene.engine, stop)
        self.daemon = Daemon(found, stop, self.said.append, scene.engine, hands)

    def round(self) -> list[str]:
        """Do one round; return what was said."""
        self.said.clear()
        self.daemon.round()
        return list(self.said)


def runs(scene: Scene, identity: str = "default") -> list[str]:
    state = scene.context(identity).agent.state
    return [
        row["outcome"]
        for row in rows(state, "SELECT outcome FROM runs ORDER BY reserved_at, rowid")
    ]


def many(scene: Scene, identity: str, count: int) -> None:
    for number in range(count):
        session = f"{identity}-{number}"
        scene.says(f"Lesson {session}.", "Yes.", session=session, identity=identity)


def test_a_large_backlog_of_one_identity_keeps_no_other_waiting(tmp_path):
    scene = Scene(tmp_path, CONFIG, TWO, engine=SCRIPTED)
    many(scene, "alpha", 4)
    many(scene, "beta", 2)
    said = Watched(scene, "alpha").round()
    order = [line[0] for line in said if "merged" in line]
    assert "".join(order) == "ababaa"


def test_a_broken_identity_is_named_and_stops_nobody(tmp_path):
    scene = Scene(tmp_path, CONFIG, TWO, engine=SCRIPTED)
    many(scene, "beta", 1)
    daemon = Watched(scene, "beta")
    (scene.context("alpha").agent.path / "config.toml").write_text("[", "utf-8")
    said = daemon.round()
    assert any(line.startswith("alpha: ") and "config.toml" in line for line in said)
    assert any(line.startswith("beta: run ") for line in said)


def test_a_missing_folder_of_one_identity_stops_nobody(tmp_path):
    scene = Scene(tmp_path, CONFIG, TWO, engine=SCRIPTED)
    many(scene, "beta", 1)
    scene.context("alpha").agent.worktrees.rmdir()
    said = Watched(scene, "beta").round()
    assert any(line.startswith("alpha: ") for line in said)
    assert any(line.startswith("beta: run ") for line in said)


def test_what_backed_off_is_tried_again_without_another_event(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.says("Lesson one. Crash.", "Yes.")
    daemon = Watched(scene)
    daemon.round()
    assert runs(scene) == ["failed"]
    daemon.round()
    assert runs(scene) == ["failed"]
    scene.clock.sleep(10)
    daemon.round()
    assert runs(scene) == ["failed", "merged"]


def test_a_parked_route_is_probed_every_six_hours_without_an_event(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.provider("auth")
    scene.says("Lesson one.", "Yes.")
    daemon = Watched(scene)
    for _ in range(24):
        daemon.round()
        scene.clock.sleep(HOUR)
    assert runs(scene) == ["failed"] * 4
    scene.provider("")
    for _ in range(6):
        daemon.round()
        scene.clock.sleep(HOUR)
    assert runs(scene) == ["failed"] * 4 + ["merged"]


def test_a_dream_that_was_missed_is_caught_up_once(tmp_path):
    scene = Scene(tmp_path, "", engine=SCRIPTED)
    scene.says("Hello.", "Yes.")
    scene.clock.sleep(5 * 24 * HOUR)
    daemon = Watched(scene)
    for _ in range(8):
        daemon.round()
        scene.clock.sleep(6 * HOUR)
    state = scene.context().agent.state
    found = rows(state, "SELECT pipeline, trigger, outcome FROM runs")
    assert [tuple(row) for row in found] == [("dream", "idle", "merged")]


def test_away_from_main_no_run_is_begun_over_and_over(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.says("Lesson one.", "Yes.")
    scene.git("checkout", "-q", "-b", "elsewhere")
    daemon = Watched(scene)
    for _ in range(3):
        daemon.round()
        scene.clock.sleep(60)
    assert runs(scene) == []
    scene.git("checkout", "-q", "main")
    daemon.round()
    assert runs(scene) == ["merged"]


def test_a_slot_that_another_supervisor_holds_is_left_to_it(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.says("Lesson one.", "Yes.")
    presence = Lock(scene.context().agent.lock(f"run-{REFLECTION}"))
    assert presence.take()
    Watched(scene).round()
    assert runs(scene) == [None]
    presence.release()
    Watched(scene).round()
    assert runs(scene) == ["merged"]


def test_one_daemon_a_home_is_enough(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    with daemons._alone(scene.context()), pytest.raises(BusyError, match="Another"):
        Watched(scene).daemon.run(once=True)
    Watched(scene).daemon.run(once=True)


def test_told_to_stop_it_ends_within_a_round_and_while_it_waits(tmp_path):
    scene = Scene(tmp_path, CONFIG, TWO, engine=SCRIPTED)
    many(scene, "alpha", 3)
    merged = lambda: sum(each == "merged" for each in runs(scene, "alpha"))  # noqa: E731
    Watched(scene, "alpha", stop=lambda: merged() >= 1).daemon.run(once=False)
    assert merged() == 1
    began = scene.clock.monotonic()
    Watched(scene, "alpha", stop=lambda: scene.clock.monotonic() > began + 300).daemon.run(
        once=False
    )
    assert merged() == 3
    assert scene.clock.monotonic() < began + 301


def test_a_tip_that_waits_keeps_nobody_s_turn_from_coming(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.says("Lesson one. Dirty.", "Yes.", session="one")
    daemon = Watched(scene)
    daemon.round()
    assert runs(scene) == ["parent_dirty"]
    scene.says("Lesson two.", "Yes.", session="two")
    scene.event(DONE)
    scene.says("Lesson three.", "Yes.", session="three")
    scene.event(Shutdown())
    daemon.round()
    assert runs(scene) == ["parent_dirty", "merged", "merged"]


class Sent:
    """Hands that count whom they sent, and whom nobody hears of again."""

    def __init__(self) -> None:
        self.count = 0

    def start(self, _theirs: Context) -> Sent:
        self.count += 1
        return self

    def code(self) -> None:
        return None

    def end(self) -> None:
        """It goes on."""

    kill = end


def test_one_at_a_time_is_sent_to_end_a_stuck_owner(tmp_path):
    scene = Scene(tmp_path, CONFIG, engine=SCRIPTED)
    scene.says("Lesson one.", "Yes.")
    scene.event(DONE)
    with scene.context().state() as state:
        (run,) = reservations.active(state.connection)
        reservations.adopt(state, run.id, ME, "2026-11-30T12:00:00.000Z")
    presence = Lock(scene.context().agent.lock(f"run-{REFLECTION}"))
    assert presence.take()
    sent = Sent()
    made = Daemon(scene.context(), lambda: False, lambda _: None, SCRIPTED, sent)

    def rounds(count: int) -> int:
        for _ in range(count):
            made.round(until=scene.clock.monotonic() + 30)
        return sent.count

    assert rounds(3) == 0  # it works
    scene.clock.sleep(41 * 60)
    assert rounds(4) == 1
    assert rounds(2) == 2
    presence.release()
