"""A prompt's hook that is answered late, wrongly or not at all: the turn goes on, the event is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reflector.surface import hook, hook_beside
from tests.support.hooks import HOOK

CALLED = """
import posix, sys
sys.path.insert(0, sys.argv[1])
from reflector.surface import hook, hook_beside
hook._SECONDS_INJECTING = float(sys.argv[2])
hook._drain = lambda home: posix.write(2, b"drained")
def answered(home, cwd, session, prompt):
    {answer}
hook_beside._asked = answered
sys.exit(hook.hook(*sys.argv[3:]))
"""
EVENTS = [("claude-code", "UserPromptSubmit"), ("gemini-cli", "BeforeAgent")]
NEVER = "return hook_beside._read(posix.pipe()[0])"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "me").mkdir(parents=True)
    (tmp_path / "hook.gate").write_text("default me\nrecall on\n")
    return tmp_path


def call(home: Path, answer: str, harness: str, event: str, seconds: float = 60):
    return subprocess.run(
        [
            *(sys.executable, "-IS", "-c", CALLED.format(answer=answer)),
            *(str(HOOK.parents[2]), str(seconds), harness, event),
        ],
        env={"REFLECTOR_HOME": str(home)},
        input=json.dumps({"session_id": "s-1", "cwd": "/", "prompt": "rotate keys"}).encode(),
        capture_output=True,
        timeout=20,
        check=False,
    )


def spooled(home: Path) -> list[str]:
    return [json.loads(file.read_text())["event"] for file in home.glob("spool/*")]


@pytest.mark.parametrize(("harness", "event"), EVENTS)
@pytest.mark.parametrize(
    ("answer", "seconds"), [(NEVER, 0.06), ("raise OSError", 60), ("return b'', b''", 60)]
)
def test_without_an_answer_the_turn_goes_on_and_the_event_is_kept(
    home, harness, event, answer, seconds
):
    done = call(home, answer, harness, event, seconds)
    assert done.returncode == 0
    assert done.stdout == (b"{}\n" if harness == "gemini-cli" else b"")
    assert spooled(home) == [event]
    assert done.stderr == b"drained"
    assert not (home / "agents" / "me" / "beside").exists()


def test_what_was_printed_is_kept_for_the_session_and_forgotten_when_it_is_compacted(home):
    marks = home / "agents" / "me" / "beside" / "s-1"
    for _ in range(2):
        done = call(home, "return b'm1 m2', 'text \u5bc6'.encode()", *EVENTS[0])
        found = json.loads(done.stdout)["hookSpecificOutput"]
        assert found == {"hookEventName": "UserPromptSubmit", "additionalContext": "text \u5bc6"}
    assert marks.read_text() == "m1 m2\nm1 m2\n"
    assert call(home, "raise OSError", "claude-code", "PreCompact").returncode == 0
    assert not marks.exists()
    assert call(home, "raise OSError", "claude-code", "PreCompact").stderr == b"drained"


@pytest.mark.parametrize(
    ("harness", "event", "source", "forgets"),
    [
        ("claude-code", "SessionStart", "compact", True),
        ("claude-code", "SessionStart", "resume", False),
        ("claude-code", "SessionStart", "clear", True),
        ("gemini-cli", "SessionStart", "resume", True),
        ("codex", "PreCompact", "", True),
        ("gemini-cli", "PreCompress", "", True),
        ("claude-code", "Stop", "compact", False),
    ],
)
def test_a_session_may_be_shown_again_what_it_lost(harness, event, source, forgets):
    assert hook_beside._forgets(harness, event, source, hook.FORGETFUL) is forgets


def test_a_gate_without_the_line_asks_nobody(home):
    (home / "hook.gate").write_text("default me\nrecall off\n")
    done = call(home, "return b'm', b'text'", *EVENTS[0])
    assert (done.stdout, done.stderr, spooled(home)) == (b"", b"drained", [EVENTS[0][1]])
