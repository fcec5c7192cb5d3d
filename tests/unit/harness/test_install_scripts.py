"""The plugin of OpenCode and the extension of pi, run by Node against a launcher of the test's."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reflector.harness.installs.scripts import script

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="there is no node on this machine"),
]

FAKE = """#!/bin/sh
printf '%s %s %s\\n' "$2" "$3" "$(cat)" >> "{log}"
case "$3" in session.created|session_start) printf 'MEMORY';; esac
{more}
"""
OPENCODE = """
import { Reflector } from "./script.mjs"
const plugin = await Reflector({ directory: "/work" })
const happens = (type, properties) => plugin.event({ event: { type, properties } })
const asks = async (sessionID) => {
  const output = { system: [] }
  await plugin["experimental.chat.system.transform"]({ sessionID }, output)
  return output.system
}
"""
PI = """
import extension from "./script.mjs"
const acts = {}
extension({ on: (event, act) => (acts[event] = act) })
const sessionManager = { getSessionId: () => "s", getSessionFile: () => "/t.jsonl" }
const happens = (event, given = {}) => acts[event]?.(given, { cwd: "/work", sessionManager })
"""


class Bench:
    """Runs a script file of ours with a fake launcher, which notes what it is told."""

    def __init__(self, folder: Path, harness: str, name: str) -> None:
        self.folder, self.head = folder, OPENCODE if harness == "opencode" else PI
        self.launcher = folder / "reflector"
        self.log = folder / "log"
        text = script(harness, name, str(self.launcher)).text
        (folder / "script.mjs").write_text(text)
        self.fake()

    def fake(self, more: str = "") -> None:
        self.launcher.write_text(FAKE.format(log=self.log, more=more))
        self.launcher.chmod(0o755)

    def __call__(self, body: str, seconds: int = 30, **environ: str) -> Any:
        """Run a body that calls `done(value)`; return the value. Nothing may be complained of."""
        (self.folder / "run.mjs").write_text(
            self.head + "const done = (value) => console.log(JSON.stringify(value))\n" + body
        )
        ran = subprocess.run(
            [str(NODE), "run.mjs"],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", **environ},
            capture_output=True,
            check=True,
            timeout=seconds,
        )
        assert ran.stderr == b""
        return json.loads(ran.stdout)

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what the launcher was told: events with their payloads."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        parts = [line.split(" ", 2) for line in lines]
        return [(event, json.loads(payload)) for _, event, payload in parts]


@pytest.fixture
def opencode(tmp_path):
    return Bench(tmp_path, "opencode", "opencode.js")


@pytest.fixture
def pi(tmp_path):
    return Bench(tmp_path, "pi", "pi.ts")


CREATED = 'await happens("session.created", { sessionID: "s", info: { id: "s" } })\n'


def test_opencode_keeps_the_memory_of_a_session_and_asks_again_after_a_compaction(opencode):
    shown = opencode(
        CREATED
        + """
        const first = await asks("s"), second = await asks("s")
        await happens("session.compacted", { sessionID: "s" })
        done([first, second, await asks("s"), await asks("s")])
        """
    )
    assert shown == [["MEMORY"]] * 4
    events = [event for event, _ in opencode.told()]
    assert events == ["session.created", "session.compacted", "session.created"]


def test_opencode_shows_the_memory_in_a_session_that_began_before_it_did(opencode):
    assert opencode('done(await asks("old"))') == ["MEMORY"]
    ((_, payload),) = opencode.told()
    assert (payload["session_id"], payload["cwd"]) == ("old", "/work")


def test_opencode_tells_every_event_with_the_session(opencode):
    opencode(
        CREATED
        + """
        await plugin["chat.message"]({ sessionID: "s" }, {})
        await happens("session.idle", { sessionID: "s" })
        await happens("session.deleted", { info: { id: "s" } })
        await happens("file.edited", { file: "x" })
        done(1)
        """
    )
    told = opencode.told()
    assert {event for event, _ in told} == {
        "session.created",
        "chat.message",
        "session.idle",
        "session.deleted",
    }
    assert {payload["session_id"] for _, payload in told} == {"s"}


def test_what_opencode_hands_over_is_read_by_no_shell(opencode):
    name = """$HOME `id` $(id) 'a' "b" \\ \nEND\n"""
    opencode(f"await happens('session.idle', {{ sessionID: {json.dumps(name)} }}); done(1)")
    assert [payload["session_id"] for _, payload in opencode.told()] == [name]


def test_opencode_says_nothing_of_the_sessions_of_subagents(opencode):
    shown = opencode(
        """
        const info = { id: "inner", parentID: "s" }
        await happens("session.created", { sessionID: "inner", info })
        await plugin["chat.message"]({ sessionID: "inner" }, {})
        await happens("session.idle", { sessionID: "inner" })
        done(await asks("inner"))
        """
    )
    assert shown == []
    assert opencode.told() == []


def test_opencode_goes_on_when_reflector_is_gone(opencode):
    opencode.launcher.unlink()
    assert opencode(CREATED + 'await happens("session.idle", {}); done(await asks("s"))') == []


def test_opencode_goes_on_when_reflector_hangs(opencode):
    opencode.fake("exec sleep 600")
    place = opencode.folder / "script.mjs"
    assert "LONGEST_MS = 3000" in place.read_text()
    place.write_text(place.read_text().replace("LONGEST_MS = 3000", "LONGEST_MS = 30"))
    assert opencode(CREATED + 'done(await asks("s"))', seconds=10) == []


def test_opencode_stays_silent_inside_a_run_of_ours(opencode):
    assert opencode("done(Object.keys(plugin))", REFLECTOR_CHILD="1") == []


def test_pi_shows_the_memory_once_and_again_after_a_compaction(pi):
    shown = pi(
        """
        await happens("session_start", { reason: "startup" })
        const first = await happens("before_agent_start"), second = await happens("before_agent_start")
        await happens("session_before_compact"); await happens("session_compact")
        done([first, second ?? null, await happens("before_agent_start")])
        """
    )
    message = {"message": {"customType": "reflector-memory", "content": "MEMORY", "display": False}}
    assert shown == [message, None, message]


def test_pi_tells_every_event_with_the_session_and_its_file(pi):
    pi(
        """
        for (const event of ["session_start", "before_agent_start", "agent_end",
          "session_before_compact", "session_shutdown"]) await happens(event, { reason: "resume" })
        done(1)
        """
    )
    told = pi.told()
    assert {event for event, _ in told} == {
        "session_start",
        "before_agent_start",
        "agent_end",
        "session_before_compact",
        "session_shutdown",
    }
    for _, payload in told:
        place = {"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/work"}
        assert {**payload, **place} == payload
    assert told[0][1]["source"] == "resume"


def test_pi_goes_on_when_reflector_is_gone_or_its_session_is_odd(pi):
    pi.launcher.unlink()
    shown = pi(
        """
        await happens("session_start"); const first = await happens("before_agent_start")
        sessionManager.getSessionId = () => { throw new Error("gone") }
        done([first ?? null, (await happens("agent_end")) ?? null])
        """
    )
    assert shown == [None, None]


def test_pi_stays_silent_inside_a_run_of_ours(pi):
    assert pi("done(Object.keys(acts))", REFLECTOR_CHILD="1") == []
