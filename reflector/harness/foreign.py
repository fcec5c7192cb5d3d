"""Names files that Reflector does not read, so that a refusal can say what they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reflector.harness.events import Json
from reflector.harness.fields import object_at, text_at

_ROWS: tuple[tuple[str, Callable[[Json], bool]], ...] = (
    ("one event of OpenHands", lambda row: "source" in row and "Event" in text_at(row, "kind")),
    ("the prompt log of Gemini CLI", lambda row: {"sessionId", "messageId"} <= set(row)),
    ("OpenCode plugin events", lambda row: set(row) == {"n", "o"}),
    ("output of opencode run", lambda row: "sessionID" in row and "part" in row),
    ("a Qwen Code session", lambda row: "parts" in object_at(row, "message")),
    (
        "output of codex exec --json",
        lambda row: row.get("type") in ("thread.started", "turn.started"),
    ),
    ("stream-json output of Gemini CLI", lambda row: _is_init(row) and "subtype" not in row),
    (
        "stream-json output of claude -p",
        lambda row: "session_id" in row and row.get("type") in ("system", "assistant", "user"),
    ),
    ("output of claude -p", lambda row: row.get("type") == "result" and "session_id" in row),
    ("the side file of a Claude Code subagent", lambda row: {"agentType", "toolUseId"} <= set(row)),
)

_BYTES: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("the side file of a Claude Code subagent", re.compile(rb'"agentType"\s*:')),
    ("one event of OpenHands", re.compile(rb'\A\s*\{.*"kind"\s*:\s*"\w+Event"', re.DOTALL)),
    ("a JSON array", re.compile(rb"\A\s*\[")),
    ("a single JSON object", re.compile(rb"\A\s*\{\s*\n")),
    ("plain text", re.compile(rb"\A\s*[^\s\[{]")),
)

HINTS = {
    "one event of OpenHands": (
        "Join the events of its conversation, `cat events/* > CONVERSATION.jsonl`, and read that."
    ),
}
"""What to do about files that only have to be put in another form."""

_HOOK_HARNESSES = (("/.claude/", "Claude Code"), ("/.codex/", "Codex"), ("/.gemini/", "Gemini CLI"))


def foreign(ahead: Sequence[Json]) -> str:
    """Name what these first rows look like, "" if they look like nothing we know."""
    if ahead and _is_init(ahead[0]) and "subtype" not in ahead[0]:
        return "stream-json output of Gemini CLI"
    if any(row.get("type") == "agent_start" for row in ahead):
        return "output of pi --mode json"
    for row in ahead:
        if name := _hook(row) or next((name for name, fits in _ROWS if fits(row)), ""):
            return name
    return ""


def foreign_bytes(head: bytes) -> str:
    """Name what a file looks like whose first bytes are no JSON lines, "" if unknown."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    return next((name for name, pattern in _BYTES if pattern.search(text)), "")


def _is_init(row: Json) -> bool:
    return row.get("type") == "init" and "session_id" in row


def _hook(row: Json) -> str:
    """Name captured input of a hook, bare or wrapped by whoever captured it."""
    given = row if "hook_event_name" in row else object_at(row, "in")
    if "hook_event_name" not in given:
        return ""
    path = text_at(given, "transcript_path").replace("\\", "/")
    harness = next((name for part, name in _HOOK_HARNESSES if part in path), "")
    return f"hook input of {harness}" if harness else "hook input"
