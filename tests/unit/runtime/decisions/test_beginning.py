"""Who sees to it that messages are read: every hook event, every settled turn, and the daemon."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reflector.core.schedule import Settled
from reflector.runtime import front
from reflector.runtime.background import beginning
from reflector.runtime.daemon import Daemon
from reflector.runtime.decisions import background
from reflector.runtime.spooled import drain_spool
from tests.support.projects import Person
from tests.support.scenes import Inline

SAID = "We use SQLite, not Redis, for the queue."


@pytest.fixture
def scene(tmp_path: Path) -> Person:
    return Person(tmp_path)


def hooked(scene: Person, event: str) -> None:
    """Let a hook spool an event of the session, and drain it."""
    spool(scene, event)
    drain_spool(scene.context(), ("false",))


def spool(scene: Person, event: str) -> None:
    """Let a hook spool an event of the session."""
    known = {
        "time": "1.0",
        "harness": "claude-code",
        "event": event,
        "session_id": "talk",
        "transcript_path": str(scene.folder / "talk.jsonl"),
        "cwd": str(scene.project()),
    }
    with (scene.home / "spool" / "2026-11-30.jsonl").open("a") as file:
        file.write(json.dumps(known) + "\n")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"])
def test_after_any_hook_event_what_was_typed_is_read(scene: Person, event: str):
    scene.types(SAID)
    assert scene.ledger() == []
    hooked(scene, event)
    assert len(scene.ledger()) == 1


def test_however_much_hooks_tell_it_is_begun_once(scene: Person, monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []
    monkeypatch.setattr(background, "anything", asked.append)
    spool(scene, "SessionStart")
    spool(scene, "Stop")
    hooked(scene, "SessionEnd")
    assert len(asked) == 1


@pytest.mark.parametrize(
    "tells",
    [
        lambda scene: front.handle(scene.context(), Settled(success=True), ("false",)),
        lambda scene: Daemon(
            scene.context(), lambda: False, lambda _: None, hands=Inline()
        ).round(),
    ],
    ids=["a settled turn", "the daemon's round"],
)
def test_it_is_read_after(scene: Person, tells: Callable[[Person], object]):
    scene.types(SAID)
    tells(scene)
    assert len(scene.ledger()) == 1


def test_where_nothing_waits_nothing_is_looked_at(scene: Person, monkeypatch: pytest.MonkeyPatch):
    def looks(*_: object, **__: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(background, "wanted", looks)
    assert not beginning.begin(scene.context())


def test_while_decisions_are_off_nothing_is_read(scene: Person):
    scene.types(SAID)
    (scene.home / "config.toml").write_text("[decisions]\nenabled = false\n")
    assert not beginning.begin(scene.context())
    assert scene.ledger() == []
