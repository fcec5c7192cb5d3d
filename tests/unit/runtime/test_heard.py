"""What the drainer reads and asks for because of a session: subagents, OpenCode, catching up."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from reflector.core.schedule import Idle, Reserve, Settled
from reflector.runtime import front, heard, news, notices
from reflector.runtime import spooled as drainer
from reflector.runtime.ingest import ingest
from reflector.runtime.spooled import drain_spool
from reflector.runtime.status import status
from tests.support import gemini_rows, opencode_rows
from tests.support.auditor import rows
from tests.support.scenes import Scene
from tests.support.spooling import CONFIG, drained, hook, reserved

AT = "2026-11-30T10:00:00.000Z"
SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path, CONFIG)


def claude(name: str, text: str, session: str = SESSION, agent: str = "") -> str:
    """Return a row that a user typed in Claude Code, or gave to a subagent."""
    row = {
        "parentUuid": None,
        "isSidechain": bool(agent),
        "cwd": "/src",
        "sessionId": session,
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": name,
        "timestamp": AT,
    } | ({"agentId": agent} if agent else {})
    return json.dumps(row, separators=(",", ":")) + "\n"


def put(place: Path, *lines: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        file.writelines(lines)
    return place


def project(scene: Scene) -> Path:
    return scene.folder / "projects" / "-src"


def talk(scene: Scene, session: str = SESSION, *names: str) -> Path:
    lines = [claude(name, f"said {name}", session) for name in names or ("u1",)]
    return put(project(scene) / f"{session}.jsonl", *lines)


def said(scene: Scene, event: str, place: Path, **fields: object) -> None:
    hook(scene, event, place.stem, transcript_path=str(place), cwd="/src", **fields)


def texts(scene: Scene) -> set[str]:
    return {row[0] for row in rows(scene.context().agent.state, "SELECT text FROM entries")}


# Subagents


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "SessionEnd"])
def test_the_transcripts_of_subagents_are_read_with_their_session(scene, event):
    place = talk(scene)
    own = project(scene) / SESSION / "subagents"
    put(own / "agent-a1.jsonl", claude("a1", "in the folder", agent="a1"))
    put(project(scene) / "agent-b2.jsonl", claude("b2", "beside", agent="b2"))
    other = claude("c3", "of another session", session="another", agent="c3")
    put(project(scene) / "agent-c3.jsonl", other)
    said(scene, event, place)
    drained(scene)
    assert texts(scene) == {"said u1", "in the folder", "beside"}


def test_what_was_typed_reads_no_subagent_yet(scene):
    place = talk(scene)
    put(
        project(scene) / SESSION / "subagents" / "agent-a1.jsonl",
        claude("a1", "by a subagent", agent="a1"),
    )
    said(scene, "UserPromptSubmit", place)
    drained(scene)
    assert texts(scene) == {"said u1"}


def test_a_subagent_that_was_read_is_opened_again_only_when_it_grew(scene, monkeypatch):
    place = talk(scene)
    theirs = project(scene) / SESSION / "subagents" / "agent-a1.jsonl"
    put(theirs, claude("a1", "first", agent="a1"))
    said(scene, "Stop", place)
    drained(scene)
    opened: list[str] = []

    def watched(context, path, watch, **more):
        opened.append(path.name)
        return ingest(context, path, watch, **more)

    monkeypatch.setattr(heard, "ingest", watched)
    said(scene, "Stop", place)
    drained(scene)
    assert opened == [place.name]
    put(theirs, claude("a2", "second", agent="a1"))
    said(scene, "Stop", place)
    drained(scene)
    assert "second" in texts(scene)


def test_a_transcript_of_a_subagent_that_the_hook_names_is_read(scene):
    place = talk(scene)
    theirs = put(scene.folder / "elsewhere" / "x.jsonl", claude("a1", "named", agent="a1"))
    said(scene, "SubagentStop", place, agent_transcript_path=str(theirs))
    drained(scene)
    assert texts(scene) == {"said u1", "named"}


def test_the_folder_of_gemini_s_subagents_is_read(scene):
    chats = scene.folder / "chats"
    for folder, text in ((chats, "from me"), (chats / gemini_rows.SESSION, "by a subagent")):
        lines = [gemini_rows.header(), gemini_rows.typed("u1", text), gemini_rows.answered("m1")]
        if folder != chats:
            lines = [gemini_rows.header(sessionId="sub"), gemini_rows.typed("u9", text)]
        put(folder / "session-x.jsonl", *(json.dumps(line) + "\n" for line in lines))
    hook(
        scene,
        "AfterAgent",
        gemini_rows.SESSION,
        harness="gemini-cli",
        transcript_path=str(chats / "session-x.jsonl"),
    )
    assert drained(scene).trouble == ()
    assert {"from me", "by a subagent"} <= texts(scene)


# OpenCode


def program(scene: Scene, act: str = "") -> Path:
    """Put in a program that says one session, and counts how often it is asked."""
    export = opencode_rows.export(
        opencode_rows.user_said("msg_1", "We use tabs."), opencode_rows.answer("msg_2", "Noted.")
    )
    (scene.folder / "export.json").write_text(json.dumps(export))
    place = scene.folder / "opencode"
    place.write_text(
        f"#!{sys.executable} -I\nimport sys, pathlib\nhere = pathlib.Path(__file__).parent\n"
        f"open(here / 'calls', 'a').write('x')\n{act}\n"
        "sys.stdout.write((here / 'export.json').read_text())\n"
    )
    place.chmod(0o700)
    return place


def opencode(scene: Scene, event: str, place: Path | str, **more: object) -> None:
    hook(
        scene,
        event,
        opencode_rows.SESSION,
        harness="opencode",
        transcript_path="",
        opencode_path=str(place),
        **more,
    )


def test_a_session_of_opencode_is_asked_for_once_when_its_turn_ended(scene):
    place = program(scene)
    for event in ("session.created", "chat.message"):
        opencode(scene, event, place)
    assert drained(scene).entries == 0
    for event in ("chat.message", "session.idle", "session.idle"):
        opencode(scene, event, place)
    done = drained(scene)
    assert (done.events, done.entries, done.trouble) == (3, 2, ())
    assert texts(scene) == {"We use tabs.", "Noted."}
    opencode(scene, "session.idle", place)
    assert drained(scene).entries == 0
    assert (scene.folder / "calls").read_text() == "xx"


def test_what_a_session_of_opencode_goes_on_with_is_added(scene):
    place = program(scene)
    opencode(scene, "session.idle", place)
    drained(scene)
    export = json.loads((scene.folder / "export.json").read_text())
    export["messages"] += [
        opencode_rows.user_said("msg_3", "And spaces in YAML."),
        opencode_rows.answer("msg_4", "Noted as well."),
    ]
    (scene.folder / "export.json").write_text(json.dumps(export))
    opencode(scene, "session.idle", place)
    done = drained(scene)
    assert (done.entries, done.trouble) == (2, ())
    assert "And spaces in YAML." in texts(scene)


def test_a_missing_program_is_one_sentence_and_nothing_else(scene, monkeypatch):
    monkeypatch.setenv("PATH", str(scene.folder))
    opencode(scene, "session.idle", "")
    opencode(scene, "session.idle", "", cwd="/elsewhere")
    done = drained(scene)
    assert done.events == 2
    (sentence,) = done.trouble
    assert "opencode is not on PATH" in sentence
    assert reserved(scene) == []
    assert drained(scene).events == 0


def test_a_session_that_was_deleted_is_no_trouble(scene):
    place = program(scene, "sys.exit(1)")
    opencode(scene, "session.deleted", place)
    assert drained(scene).trouble == ()
    opencode(scene, "session.idle", place)
    assert "exit code 1" in drained(scene).trouble[0]


# Catching up


def asked(scene: Scene, monkeypatch) -> list[object]:
    found: list[object] = []
    monkeypatch.setattr(drainer, "decide", lambda _context, event, _: found.append(event))
    drained(scene)
    return found


def test_a_session_that_begins_reads_what_an_earlier_one_left(scene):
    earlier = talk(scene, "earlier", "u1")
    said(scene, "UserPromptSubmit", earlier)
    drained(scene)
    put(earlier, claude("u2", "said before the machine was switched off", "earlier"))
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
    assert drained(scene).entries == 1
    assert "said before the machine was switched off" in texts(scene)


def test_a_session_of_another_harness_reads_nothing_of_it(scene):
    earlier = talk(scene, "earlier", "u1")
    said(scene, "UserPromptSubmit", earlier)
    drained(scene)
    put(earlier, claude("u2", "more", "earlier"))
    hook(scene, "SessionStart", "new", harness="codex", transcript_path="", source="startup")
    assert drained(scene).entries == 0


def test_what_vanished_or_cannot_be_read_keeps_no_session_from_beginning(scene):
    gone, odd = talk(scene, "gone"), talk(scene, "odd")
    for place in (gone, odd):
        said(scene, "UserPromptSubmit", place)
    drained(scene)
    gone.unlink()
    odd.write_bytes(b"\0" * 9000)
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
    assert drained(scene).trouble == ()


def test_what_is_due_is_asked_for_once_however_many_sessions_begin(scene, monkeypatch):
    for name in ("one", "two", "three"):
        said(scene, "SessionStart", project(scene) / f"{name}.jsonl", source="startup")
    hook(scene, "SessionStart", "x", harness="codex", transcript_path="", cwd="/src")
    catching_up = [Settled(success=True, origin="catch-up"), Idle(origin="catch-up")]
    assert asked(scene, monkeypatch) == catching_up


def test_a_turn_that_settled_beside_it_asks_for_itself(scene, monkeypatch):
    said(scene, "SessionStart", talk(scene), source="startup")
    said(scene, "Stop", talk(scene))
    assert asked(scene, monkeypatch) == [
        Settled(success=True, origin="hook"),
        Idle(origin="catch-up"),
    ]


def test_a_start_after_a_compaction_asks_for_nothing(scene, monkeypatch):
    said(scene, "SessionStart", talk(scene), source="compact")
    assert asked(scene, monkeypatch) == []
    assert texts(scene) == {"said u1"}


def test_a_threshold_that_was_reached_before_starts_a_run_when_a_session_begins(scene):
    scene.says("Hello.", "Yes.", "And?", "And.")
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
    drained(scene)
    assert reserved(scene) == [("step-count", "jsonl/talk")]


def test_a_run_that_nobody_took_over_is_launched_again_when_a_session_begins(scene, monkeypatch):
    scene.says("Hello.", "Yes.", "And?", "And.")
    assert isinstance(scene.event(Settled(success=True)), Reserve)
    launched: list[str] = []

    def launch(context, _supervisor):
        launched.append(context.agent.identity)
        return "owns"

    monkeypatch.setattr(front, "launch", launch)
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
    assert drain_spool(scene.context()).trouble == ()
    assert set(launched) == {"default"}


def test_a_dream_that_was_missed_is_asked_for_at_the_next_start_and_once(scene):
    scene.config = "[engine]\nname = 'anthropic'\n"
    (scene.home / "config.toml").write_text(scene.config)
    scene.says("Hello.", "Yes.")
    for _ in range(2):
        scene.clock.sleep(3600)
        said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
        drained(scene)
    found = rows(scene.context().agent.state, "SELECT pipeline, state FROM runs")
    assert [tuple(row) for row in found] == [("dream", "active")]


# Whom it is about, and what it was told


def test_a_session_below_our_own_home_is_left_alone(scene, monkeypatch):
    place = talk(scene)
    for event in ("SessionStart", "Stop", "SessionEnd"):
        hook(scene, event, transcript_path=str(place), cwd=str(scene.home / "agents" / "x"))
    link = scene.folder / "link"
    link.symlink_to(scene.home)
    hook(scene, "Stop", transcript_path=str(place), cwd=str(link / "agents"))
    assert asked(scene, monkeypatch) == []
    assert texts(scene) == set()


def test_what_a_session_was_shown_is_forgotten_and_what_came_since_is_kept(scene):
    context = scene.context()
    with context.state() as state:
        with state.transaction() as connection:
            news.learned_more(connection, "r-1", 1)
        _, stamp = notices.at_start(context, state)
        with state.transaction() as connection:
            news.learned_more(connection, "r-2", 2)
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup", told=stamp)
    drained(scene)
    ((_, sentence),) = status(scene.context()).notices
    assert sentence == "Learned 2 things since the last session: `reflector show r-2`."
    assert sentence in (context.agent.path / "notice").read_text()


def test_a_session_that_showed_nothing_takes_no_notice_away(scene):
    context = scene.context()
    with context.state() as state, state.transaction() as connection:
        news.learned_more(connection, "r-1", 1)
    said(scene, "SessionStart", project(scene) / "new.jsonl", source="startup")
    drained(scene)
    assert [code for code, _ in status(scene.context()).notices] == ["learned"]
    assert "Learned 1 thing" in (context.agent.path / "notice").read_text()


def test_the_same_events_three_times_are_one_conversation_and_one_decision(scene, monkeypatch):
    place = talk(scene, SESSION, "u1", "u2")
    for _ in range(3):
        for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
            said(scene, event, place)
    asks = asked(scene, monkeypatch)
    assert len(asks) == 2
    for _ in range(2):
        said(scene, "Stop", place)
        drained(scene)
    assert rows(scene.context().agent.state, "SELECT count(*) FROM entries")[0][0] == 2
