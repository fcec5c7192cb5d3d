"""What waits is ruled on once: an event looks at what was planned before, as long as it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.decision import Delta, Friction, Kind, Source
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions import due, planning
from reflector.runtime.decisions.due import next_due
from reflector.runtime.decisions.planning import Plan, batch, plans
from reflector.store import decisions
from reflector.store.state import State
from tests.support.journals import NOW
from tests.support.scenes import Scene

CONFIG = '[engine]\nname = "anthropic"\n'


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, CONFIG)


@pytest.fixture
def state(scene: Scene) -> Iterator[State]:
    with scene.context().state() as state:
        yield state


def adds(state: State, statement: str, *, bank: str = "shop-1", **flags: bool) -> int:
    delta = Delta(
        Kind.PRODUCT, statement, Source.EXPLICIT, statement, 0, len(statement), Friction(**flags)
    )
    with state.transaction() as connection:
        return decisions.add_delta(connection, bank, "h/s", "h:s:0", NOW, "model", delta)


def looks(scene: Scene, state: State) -> Plan | Waits:
    return next_due(scene.context(), state)


def test_an_event_does_not_rule_again_on_what_has_not_changed(
    scene: Scene, state: State, monkeypatch: pytest.MonkeyPatch
):
    adds(state, "Exports are CSV only.")
    assert looks(scene, state) == Waits("nothing")

    def rules(*_: object) -> list[Plan]:
        raise AssertionError

    monkeypatch.setattr(due, "plans", rules)
    for _ in range(3):
        assert looks(scene, state) == Waits("nothing")


def test_what_comes_into_the_ledger_is_ruled_on(scene: Scene, state: State):
    adds(state, "Exports are CSV only.")
    assert looks(scene, state) == Waits("nothing")
    adds(state, "Exports are CSV only.", regression=True)
    found = looks(scene, state)
    assert isinstance(found, Plan)
    assert len(found.eligible) == 2


def test_another_admission_is_another_plan(scene: Scene, state: State):
    adds(state, "Exports are CSV only.")
    assert looks(scene, state) == Waits("nothing")
    (scene.home / "config.toml").write_text(CONFIG + '[decisions]\nadmission = "all"\n')
    assert isinstance(looks(scene, state), Plan)


def test_a_plan_from_the_future_is_a_wrong_clocks(scene: Scene, state: State):
    adds(state, "Exports are CSV only.")
    looks(scene, state)
    scene.clock.passed = -86_400.0
    context = scene.context()
    now = context.ambient.clock.now()
    assert planning.recalled(state.connection, context.settings, now) is None


def test_a_run_takes_what_fits_and_at_least_one(scene: Scene, state: State):
    for number in range(40):
        adds(state, f"Number {number} of a thing: {'word ' * 200}", regression=True)
    context = scene.context()
    [plan] = plans(state.connection, context.settings, context.ambient.clock.now())
    assert len(plan.eligible) == 40
    assert 1 <= len(batch(state.connection, plan)) < 40
    adds(state, "w" * 100_000, bank="other-1", regression=True)
    [_, huge] = plans(state.connection, context.settings, context.ambient.clock.now())
    assert len(batch(state.connection, huge)) == 1
