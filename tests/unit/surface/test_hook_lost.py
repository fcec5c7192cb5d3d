"""A payload too large to be read is counted by a line of its own, and nothing else comes of it."""

from __future__ import annotations

import fcntl
import json
import subprocess
from pathlib import Path

import pytest

from tests.support.hooks import called

LARGE = json.dumps({"cwd": "/secret", "session_id": "s", "prompt": "CANARY " * 700_000}).encode()


@pytest.fixture
def home(tmp_path: Path):
    for name in ("spool", "locks"):
        (tmp_path / name).mkdir()
    with (tmp_path / "locks" / "ingest.lock").open("w") as drained:
        fcntl.flock(drained, fcntl.LOCK_EX)  # somebody drains already
        yield tmp_path


def run(home: Path, event: str) -> subprocess.CompletedProcess[bytes]:
    return called(home, "claude-code", event, LARGE)


def spooled(home: Path) -> list[dict[str, str]]:
    lines = [line for file in home.glob("spool/*") for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("event", ["Stop", "SessionStart"])
def test_a_payload_over_four_mebibytes_is_counted_and_shows_nothing(home, event):
    (home / "hook.gate").write_text("exclude /secret\ndefault main\n")
    agent = home / "agents" / "main"
    agent.mkdir(parents=True)
    (agent / "block").write_text("x 1\n\nmemory of somebody\n")
    done = run(home, event)
    assert (done.returncode, done.stdout) == (0, b"")
    (line,) = spooled(home)
    assert line.pop("time")
    assert line == {"harness": "claude-code", "event": event, "lost": "payload"}


def test_while_paused_nothing_is_written_of_it(home):
    (home / "hook.gate").write_text("paused -\n")
    assert run(home, "Stop").returncode == 0
    assert spooled(home) == []
