"""What each harness's events mean, and that the ones it really sent are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflector.harness.meanings import EVENTS, meaning

CAPTURES = Path(__file__).resolve().parents[4] / "shared" / "data" / "live-captures"
ORDER = ("began", "spoke", "settled", "compacting", "ended")


@pytest.mark.parametrize(
    ("harness", "events"),
    [
        (
            "claude-code",
            ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
        ),
        ("codex", ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")),
        ("gemini-cli", ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")),
        (
            "opencode",
            (
                "session.created",
                "chat.message",
                "session.idle",
                "session.compacted",
                "session.deleted",
            ),
        ),
        (
            "pi",
            (
                "session_start",
                "before_agent_start",
                "agent_end",
                "session_before_compact",
                "session_shutdown",
            ),
        ),
    ],
)
def test_every_harness_begins_speaks_settles_compacts_and_ends(harness, events):
    assert tuple(meaning(harness, event) for event in events) == ORDER
    assert set(events) <= EVENTS[harness].keys()


def test_oh_my_pi_speaks_as_pi_does():
    assert EVENTS["oh-my-pi"] == EVENTS["pi"]


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_a_subagent_that_stops_is_journaled_and_settles_nothing(harness):
    assert meaning(harness, "SubagentStop") == "journaled"


@pytest.mark.parametrize(
    ("harness", "event"),
    [
        ("claude-code", "PostToolUse"),
        ("claude-code", "AfterAgent"),
        ("gemini-cli", "Stop"),
        ("unheard-of", "Stop"),
        ("", ""),
    ],
)
def test_what_is_unknown_means_nothing(harness, event):
    assert meaning(harness, event) == "nothing"


def test_a_start_after_a_compaction_begins_nothing():
    assert meaning("claude-code", "SessionStart", "compact") == "journaled"
    for source in ("startup", "resume", "clear", "fork", ""):
        assert meaning("codex", "SessionStart", source) == "began"


@pytest.mark.parametrize(
    ("folder", "harness", "sent"),
    [
        ("claude-code-2.1.332", "claude-code", {"began", "spoke", "settled", "journaled", "ended"}),
        (
            "codex-0.171.0",
            "codex",
            {"began", "spoke", "compacting", "journaled", "settled", "ended"},
        ),
        ("gemini-cli-0.61.0", "gemini-cli", {"began", "spoke", "compacting", "settled", "ended"}),
    ],
)
def test_what_a_harness_really_sent_is_understood(folder, harness, sent):
    file = CAPTURES / folder / "hook-stdin.jsonl"
    if not file.exists():
        pytest.skip("the captured hook payloads are not here")
    given = [json.loads(line)["in"] for line in file.read_text("utf-8").splitlines()]
    found = {meaning(harness, each["hook_event_name"], each.get("source", "")) for each in given}
    assert found - {"nothing"} == sent


def test_what_opencode_really_sent_is_understood():
    file = CAPTURES / "opencode-1.18.33" / "plugin-events.jsonl"
    if not file.exists():
        pytest.skip("the captured plugin events are not here")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    names = {row["o"].get("type", "") if row["n"] == "event" else row["n"] for row in rows}
    found = {meaning("opencode", name) for name in names}
    assert found == {"began", "spoke", "settled", "nothing"}
