"""Ten sessions of five harnesses at once, each turn told of three times, by real processes."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflector.harness.meanings import EVENTS
from tests.support import opencode_rows
from tests.support.auditor import rows
from tests.support.cli import Cli
from tests.support.detached import rest
from tests.support.hooks import called, shown
from tests.support.transcripts import conversation

pytestmark = [pytest.mark.race, pytest.mark.slow]

SESSIONS = [
    *(("claude-code", f"claude-{n}") for n in range(3)),
    *(("codex", f"codex-{n}") for n in range(2)),
    *(("gemini-cli", f"gemini-{n}") for n in range(2)),
    ("pi", "pi-0"),
    ("oh-my-pi", "omp-0"),
    ("opencode", opencode_rows.SESSION),
]
TEXTS = ("We use tabs.", "Noted.", "And the branch is main.", "Noted as well.")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(tmp_path / "home")
    assert made("init").code == 0
    (made.home / "config.toml").write_text("[reflection]\nenabled = false\n")
    return made


def opencode(folder: Path) -> Path:
    """Put in a program that says one session of two entries."""
    said = opencode_rows.export(
        opencode_rows.user_said("msg_1", TEXTS[0]), opencode_rows.answer("msg_2", TEXTS[1])
    )
    place = folder / "opencode"
    place.write_text(f"#!{sys.executable} -I\nprint({json.dumps(said)!r})\n")
    place.chmod(0o700)
    return place


def live(cli: Cli, harness: str, session: str) -> str:
    """Live through a session whose turn ends three times; return what was shown at its start."""
    folder = cli.home.parent
    given = {"session_id": session, "cwd": str(folder)}
    if harness == "opencode":
        given["opencode_path"] = str(folder / "opencode")
    else:
        place = conversation(folder / f"{session}.jsonl", *TEXTS, session=session)
        given["transcript_path"] = str(place)
    began = ""
    for event, meaning in EVENTS[harness].items():
        for _ in range(3 if meaning == "settled" else 1):
            done = called(cli.home, harness, event, given)
            assert (done.returncode, done.stderr) == (0, b"")
            began = shown(done.stdout) if meaning == "began" else began
    return began


def test_ten_sessions_at_once_lose_nothing_and_double_nothing(cli):
    opencode(cli.home.parent)
    block = cli("prompt", "--cwd", cli.home.parent).out
    with ThreadPoolExecutor(len(SESSIONS)) as pool:
        began = list(pool.map(lambda each: live(cli, *each), SESSIONS))
    assert began == [block] * len(SESSIONS)
    rest(cli.home)
    assert cli("event", "--drain", "--json").json["trouble"] == []
    (agent,) = (cli.home / "agents").iterdir()
    found = rows(
        agent / "state.db",
        "SELECT key, count(*), count(DISTINCT sequence) FROM entries "
        "JOIN conversations ON conversations.id = entries.conversation GROUP BY key",
    )
    counted = {row[0].partition("/")[2]: (row[1], row[2]) for row in found}
    assert counted == {
        session: (2, 2) if harness == "opencode" else (len(TEXTS), len(TEXTS))
        for harness, session in SESSIONS
    }
