"""The drainer: what hooks said is journaled and decided on, and no event spoils the others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reflector.core.schedule import Settled, Shutdown
from reflector.runtime import spooled as drainer
from reflector.runtime.spooled import Drained, drain_spool
from reflector.runtime.status import status
from reflector.store import spool
from reflector.store.locks import Lock
from tests.support.scenes import Scene
from tests.support.spooling import CONFIG, TODAY, drained, hook, reserved


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, CONFIG)


def test_a_turn_that_settled_is_journaled_and_decided_on(scene):
    scene.write("Hello.", "Yes.", "And?", "And.")
    hook(scene)
    assert drained(scene) == Drained(events=1, entries=4)
    assert reserved(scene) == [("step-count", "jsonl/talk")]
    assert drained(scene) == Drained()


def test_what_was_said_is_only_journaled(scene):
    scene.write("Hello.", "Yes.", "And?", "And.")
    for event in ("UserPromptSubmit", "PreCompact", "SubagentStop", "Whatever"):
        hook(scene, event)
    hook(scene, "SessionStart", source="compact")
    hook(scene, "Stop", harness="unheard-of")
    assert drained(scene) == Drained(events=6, entries=4)
    assert reserved(scene) == []


def test_a_turn_with_work_in_the_background_has_not_settled_and_hides_no_other(scene):
    scene.write("Hello.", "Yes.", "And?", "And.")
    scene.write("Hello.", "Yes.", session="busy")
    hook(scene, busy="1")
    assert drained(scene).entries == 4
    assert reserved(scene) == []
    hook(scene)
    hook(scene, session="busy", busy="1")
    drained(scene)
    assert reserved(scene) == [("step-count", "jsonl/talk")]


def test_the_end_of_a_session_reflects_on_that_session_alone(scene):
    scene.write("Hello.", "Yes.", session="ends")
    scene.write("Hello.", "Yes.", session="goes-on")
    hook(scene, "UserPromptSubmit", "goes-on")
    hook(scene, "SessionEnd", "ends")
    drained(scene)
    assert reserved(scene) == [("shutdown", "jsonl/ends")]


def test_the_end_of_a_session_whose_transcript_is_gone_is_still_that_session_s(scene):
    scene.says("Hello.", "Yes.", session="other")
    hook(scene, "SessionEnd", "never-written")
    assert drained(scene) == Drained(events=1)
    assert reserved(scene) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"transcript_path": "/nowhere/at/all.jsonl"},
        {"transcript_path": "/"},
        {"transcript_path": "/nowhere\0"},
        {"transcript_path": "\ud800"},
        {"transcript_path": "x" * 3000},
        {"transcript_path": 7},
        {"cwd": "\0"},
        {"cwd": "x" * 3000},
        {"session_id": "\n\0\ud800/../.."},
        {"time": "soon"},
    ],
)
@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_one_odd_event_keeps_no_other_out(scene, fields, event):
    scene.write("Hello.", "Yes.", "And?", "And.")
    hook(scene, event, **{"session": "odd"} | fields)
    hook(scene)
    assert drained(scene).entries == 4
    assert ("step-count", "jsonl/talk") in reserved(scene)
    assert drained(scene) == Drained()


def test_an_identity_that_was_never_made_is_named_and_keeps_no_other_out(tmp_path):
    scene = Scene(tmp_path, CONFIG + '[identity.paths]\n"/project" = "unmade"\n')
    scene.write("Hello.", "Yes.", "And?", "And.")
    hook(scene, cwd="/project")
    hook(scene)
    done = drained(scene)
    assert (done.entries, len(done.trouble)) == (4, 1)
    assert "unmade" in done.trouble[0]


def test_each_event_belongs_to_the_identity_of_its_folder(tmp_path):
    paths = '[identity.paths]\n"/a" = "alpha"\n"/b" = "beta"\n'
    scene = Scene(tmp_path, CONFIG + paths, ("alpha", "beta"))
    for name, cwd in (("one", "/a/x"), ("two", "/b")):
        scene.write("Hello.", "Yes.", "And?", "And.", session=name)
        hook(scene, session=name, cwd=cwd)
    drain_spool(scene.context("alpha"), launch=False)
    assert reserved(scene, "alpha") == [("step-count", "jsonl/one")]
    assert reserved(scene, "beta") == [("step-count", "jsonl/two")]


def test_while_somebody_drains_nobody_else_does_and_nothing_is_read_twice(scene):
    scene.write("Hello.", "Yes.")
    hook(scene)
    lock = Lock(scene.home / "locks" / "ingest.lock")
    assert lock.take()
    assert drained(scene) == Drained(busy=True)
    lock.release()
    assert drained(scene).events == 1


def test_a_hook_that_found_a_drainer_at_its_end_is_not_left_lying(scene, monkeypatch):
    scene.write("Hello.", "Yes.")
    hook(scene)
    release = Lock.release
    times: list[int] = []

    def releases(self):
        if self.path.name == "ingest.lock" and not times:
            times.append(1)
            hook(scene)  # it finds the lock taken, and starts no drainer
        release(self)

    monkeypatch.setattr(Lock, "release", releases)
    assert drained(scene).events == 2
    assert not spool.pending(scene.home / "spool")


def test_a_spool_larger_than_one_round_is_read_to_its_end(scene, monkeypatch):
    monkeypatch.setattr(drainer, "_AT_ONCE", 3)
    for name in ("one", "two"):
        scene.write("Hello.", "Yes.", session=name)
        for _ in range(4):
            hook(scene, session=name)
    assert drained(scene) == Drained(events=8, entries=4)
    assert not spool.pending(scene.home / "spool")


def test_many_hooks_of_one_identity_ask_once(scene, monkeypatch):
    asked = []
    monkeypatch.setattr(
        drainer, "decide", lambda context, event, _: asked.append((context.agent.identity, event))
    )
    scene.write("Hello.", "Yes.")
    for _ in range(3):
        hook(scene)
        hook(scene, "SessionEnd")
    drained(scene)
    assert asked == [
        ("default", Settled(success=True, origin="hook")),
        ("default", Shutdown("jsonl/talk", origin="hook")),
    ]


# What is elsewhere, and what was lost


def moved(scene: Scene, place: Path) -> Path:
    """Write a session where the hook does not say."""
    place.parent.mkdir(parents=True, exist_ok=True)
    return scene.write("Hello.", "Yes.", session="talk").rename(place)


@pytest.mark.parametrize(
    ("harness", "said", "there"),
    [
        ("claude-code", "projects/-tree/talk.jsonl", "projects/-src-main/talk.jsonl"),
        ("codex", "sessions/2026/11/30/talk.jsonl", "archived_sessions/talk.jsonl"),
        ("codex", "sessions/2026/11/30/talk.jsonl", "sessions/2026/11/29/talk.jsonl"),
    ],
)
def test_a_transcript_that_is_missing_is_found_at_its_second_place(scene, harness, said, there):
    moved(scene, scene.folder / there)
    hook(scene, harness=harness, transcript_path=str(scene.folder / said))
    assert drained(scene) == Drained(events=1, entries=2)


def test_of_two_second_places_the_newer_is_read_and_none_where_the_first_is_there(scene):
    old = moved(scene, scene.folder / "projects" / "-old" / "talk.jsonl")
    os.utime(old, (1, 1))
    new = scene.folder / "projects" / "-new" / "talk.jsonl"
    new.parent.mkdir()
    new.write_text(old.read_text("utf-8") + scene_row("one-more"), "utf-8")
    named = scene.folder / "projects" / "-tree" / "talk.jsonl"
    hook(scene, transcript_path=str(named))
    assert drained(scene).entries == 3
    named.parent.mkdir()
    named.write_text(scene_row("here"), "utf-8")
    hook(scene, transcript_path=str(named))
    assert drained(scene).entries == 1


def scene_row(name: str) -> str:
    row = {"role": "user", "content": name, "id": name, "session_id": "talk"}
    return json.dumps(row) + "\n"


def test_a_transcript_that_is_nowhere_is_passed_over(scene):
    hook(scene, transcript_path=str(scene.folder / "projects" / "-tree" / "talk.jsonl"))
    assert drained(scene) == Drained(events=1)


def test_what_a_hook_could_not_pass_on_is_counted_and_told(scene):
    hook(scene, lost="payload")
    hook(scene, lost="payload")
    with (scene.home / "spool" / TODAY).open("a") as file:
        file.write('{"time":"1.0","harn\n')
    done = drained(scene)
    assert (done.events, len(done.trouble)) == (0, 1)
    hook(scene, lost="line")
    drained(scene)
    (problem,) = [p for p in status(scene.context()).problems if p.code == "hook_events_lost"]
    for said in ("2 (payload over 4 MiB)", "1 (line over 4 KiB)", "1 (line that is not whole"):
        assert said in problem.message
    scene.clock.sleep(8 * 86400)
    assert "hook_events_lost" not in {p.code for p in status(scene.context()).problems}
