"""A daemon's supervisors are processes: they keep nobody waiting, and end with it."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace

import psutil
import pytest

from reflector.core.ambient import Ambient
from reflector.core.schedule import Settled
from reflector.runtime.daemon import Daemon
from reflector.runtime.hands import Detached
from reflector.runtime.loop import REFLECTION, bench_for
from reflector.runtime.loop import Quiet as Quietly
from reflector.store.locks import Lock
from tests.support.auditor import audit, rows
from tests.support.detached import rest
from tests.support.journals import python
from tests.support.paused import HERE, Paused
from tests.support.scenes import Scene, Shifted

pytestmark = pytest.mark.slow

CONFIG = "[trigger]\nstep_count = 1\n[dream]\nenabled = false\n"
TWO = ("alpha", "beta")
REAL = f"{sys.executable} -I -m reflector.runtime.loop"
LONG = ("sh", "-c", f'[ "$2" = beta ] && exec {REAL} "$@"; exec sleep 60', "sh")
DEAF = ("sh", "-c", 'trap "" TERM; echo > "$1/deaf"; while :; do sleep 0.1; done', "sh")


def ends(scene: Scene, identity: str) -> list[tuple[str | None, ...]]:
    state = scene.context(identity).agent.state
    return [tuple(row) for row in rows(state, "SELECT outcome, reason FROM runs")]


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path, CONFIG, TWO, clock=Shifted())
    yield made
    rest(made.home)


def merged(scene: Scene, identity: str) -> bool:
    return ("merged", None) in ends(scene, identity)


def ours(scene: Scene) -> list[psutil.Process]:
    """Return what still runs for this home; other tests have children of their own."""
    alive = [each for each in psutil.Process().children() if each.status() != "zombie"]
    return [each for each in alive if any(str(scene.home) in word for word in each.cmdline())]


def talks(scene: Scene, identity: str) -> None:
    scene.says(f"Always use {identity} here.", "Noted.", session=identity, identity=identity)


def daemon(scene: Scene, hands: Detached, stop) -> tuple[Daemon, list[str]]:
    said: list[str] = []
    return Daemon(scene.context("alpha"), stop, said.append, hands=hands), said


def test_a_long_run_of_one_identity_keeps_no_other_waiting(scene):
    for identity in TWO:
        talks(scene, identity)
    late = scene.clock.monotonic() + 45
    made, said = daemon(
        scene, Detached(LONG), lambda: merged(scene, "beta") or scene.clock.monotonic() > late
    )
    made.run(once=False)
    assert merged(scene, "beta")
    assert ends(scene, "alpha") == [(None, None)]  # reserved; its supervisor hung and was ended
    assert any(line.startswith("alpha: its supervisor ended with -15") for line in said)
    assert not ours(scene)


def test_what_comes_during_a_long_run_is_worked_for_in_the_next_round(scene, monkeypatch):
    monkeypatch.setattr("reflector.runtime.daemon.ROUND_SECONDS", 1.0)
    talks(scene, "alpha")
    late: list[str] = []

    def stop() -> bool:
        if not late and ends(scene, "alpha"):
            talks(scene, "beta")
            late.append("beta")
        return merged(scene, "beta")

    made, _ = daemon(scene, Detached(LONG), stop)
    made.run(once=False)
    assert ends(scene, "alpha") == [(None, None)]


def test_one_round_is_over_when_all_work_is_done(scene):
    for identity in TWO:
        talks(scene, identity)
    made, said = daemon(scene, Detached(), stop=Quietly().stop)
    made.run(once=True)
    assert [ends(scene, identity) for identity in TWO] == [[("merged", None)]] * 2
    assert sorted(line.partition(":")[0] for line in said) == ["alpha", "beta"]
    audit(scene.home)


def test_a_supervisor_that_hears_no_request_to_end_is_ended_by_force(scene, monkeypatch):
    monkeypatch.setattr("reflector.runtime.daemon.END_SECONDS", 0.5)
    talks(scene, "alpha")
    made, said = daemon(scene, Detached(DEAF), (scene.home / "deaf").exists)
    made.run(once=False)
    assert any(line.startswith("alpha: its supervisor ended with -9") for line in said)


_SLOW = """
import sys
from reflector.runtime import loop
child, real = (sys.executable, {paused!r}, "child", "learns", {folder!r}), loop.bench_for
loop.bench_for = lambda found, slot, watch, _child=(): real(found, slot, watch, child)
sys.exit(loop.main([{home!r}, "default"]))
"""


def test_a_supervisor_that_is_told_to_stop_cancels_its_run_and_cleans_up(tmp_path):
    scene = Scene(tmp_path, CONFIG, clock=Shifted())
    scene.says("Always use tabs.", "Noted.")
    scene.event(Settled(success=True))
    paused = Paused(tmp_path / "home")
    code = _SLOW.format(paused=str(HERE), folder=str(paused.folder), home=str(scene.home))
    supervisor = python(code)
    child = paused.child()
    supervisor.send_signal(signal.SIGTERM)
    _, err = supervisor.communicate(timeout=30)
    assert (supervisor.returncode, err) == (0, "")
    assert ends(scene, "default") == [("cancelled", "interrupted")]
    assert not psutil.pid_exists(child)
    assert list(scene.context().agent.worktrees.iterdir()) == []
    audit(scene.home)


def test_a_supervisor_whose_daemon_is_gone_works_on_until_nothing_waits(tmp_path):
    scene = Scene(
        tmp_path, f"{CONFIG}[snapshot]\nmax_bytes = 60\n[run]\nmax_bytes = 60\n", clock=Shifted()
    )
    for number in range(3):
        scene.says(f"Always use plan {number}.", "Noted.", session=f"talk-{number}")
    scene.event(Settled(success=True))
    words = [sys.executable, "-m", "reflector.runtime.loop", str(scene.home), "default", "1"]
    code = f"import subprocess, os; p = subprocess.Popen({words!r}, stdout=-1); p.stdout.readline(); os._exit(0)"
    parent = python(code)
    parent.communicate(timeout=30)
    rest(scene.home)
    outcomes = [outcome for outcome, _ in ends(scene, "default")]
    assert outcomes.count("merged") == 3
    assert None not in outcomes


def test_a_slot_that_is_taken_launches_nobody(scene):
    talks(scene, "alpha")
    found = replace(scene.context("alpha"), ambient=Ambient(Shifted(), scene.chance))
    made, said = daemon(scene, Detached(("false",)), lambda: False)
    with bench_for(found, REFLECTION, Quietly()):
        made.round()
    assert [line for line in said if line.startswith("alpha")] == []
    assert Lock(found.agent.lock(f"run-{REFLECTION}")).take()
