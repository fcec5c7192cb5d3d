"""`status` answers whether the hooks work."""

from __future__ import annotations

import json

import pytest

from reflector.core.ambient import stamp
from reflector.runtime import block_cache, plugged
from reflector.runtime.spooled import drain_spool
from reflector.runtime.status import status
from reflector.store import scheduling
from tests.support.scenes import Scene


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


def spool(scene: Scene, *events: tuple[str, str]) -> None:
    """Let hooks say something, one after the other."""
    folder = scene.home / "spool"
    folder.mkdir(exist_ok=True)
    with (folder / "2026-11-30.jsonl").open("a") as file:
        for harness, event in events:
            scene.clock.sleep(1)
            at = scene.clock.now().timestamp()
            row = {"time": f"{at:.3f}", "harness": harness, "event": event, "session_id": "s"}
            file.write(json.dumps({**row, "cwd": "/"}) + "\n")
    drain_spool(scene.context(), launch=False)


def test_the_last_event_of_each_harness_is_known(scene):
    spool(scene, ("codex", "Stop"), ("claude-code", "SessionStart"), ("claude-code", "Stop"))
    told = status(scene.context()).as_json()["harnesses"]
    assert told == [
        {
            "harness": "claude-code",
            "scopes": [],
            "plugin": None,
            "last_event": "Stop",
            "last_event_at": stamp(scene.clock.now()),
        },
        {**told[1], "harness": "codex", "last_event": "Stop"},
    ]


def test_a_plugin_that_was_never_heard_is_told_all_the_same(scene, guarded):
    settings = guarded / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"reflector@reflector": true, "other@x": true}}')
    (told,) = status(scene.context()).as_json()["harnesses"]
    assert (told["plugin"], told["scopes"], told["last_event"]) == ("reflector@reflector", [], None)
    settings.write_text('{"enabledPlugins": {"reflector@reflector": false}}')
    assert status(scene.context()).harnesses == ()


def test_what_is_no_event_of_a_harness_leaves_no_trace(scene):
    spool(scene, ("claude-code", "x" * 50), ("nobody", "Stop"))
    assert status(scene.context()).harnesses == ()


def test_the_next_session_is_told_what_the_hook_prints(scene):
    assert status(scene.context()).next_session.tokens is None
    block_cache.refresh(scene.context())
    ready = status(scene.context()).next_session
    assert (ready.tokens or 0) > 100
    assert ready.notice == ()


@pytest.mark.parametrize("kept", ["", "[", "7", '["Stop", "x"]', '["Stop", 1e400]', '["Stop"]'])
def test_a_mark_that_cannot_be_read_is_no_trouble(scene, kept):
    with scene.context().state() as state, state.transaction() as connection:
        scheduling.set_mark(connection, "heard/codex", kept)
    with scene.context().state() as state:
        assert plugged.plugged(scene.context(), state) == ()
