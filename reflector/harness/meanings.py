"""What a harness's hook events mean to us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Meaning = Literal["began", "spoke", "settled", "compacting", "ended", "journaled", "nothing"]
"""`settled`: the turn ended; `journaled`: there is something to read, and nothing to decide on."""

# A subagent that stops is no end of a turn: whoever sent it goes on.
_JSON_ON_STDIN: Mapping[str, Meaning] = {
    "SessionStart": "began",
    "UserPromptSubmit": "spoke",
    "Stop": "settled",
    "SubagentStop": "journaled",
    "PreCompact": "compacting",
    "SessionEnd": "ended",
}
_GEMINI: Mapping[str, Meaning] = {
    "SessionStart": "began",
    "BeforeAgent": "spoke",
    "AfterAgent": "settled",
    "PreCompress": "compacting",
    "SessionEnd": "ended",
}
_OPENCODE: Mapping[str, Meaning] = {
    "session.created": "began",
    "chat.message": "spoke",
    "session.idle": "settled",
    "session.compacted": "compacting",
    "session.deleted": "ended",
}
_PI: Mapping[str, Meaning] = {
    "session_start": "began",
    "before_agent_start": "spoke",
    "agent_end": "settled",
    "session_before_compact": "compacting",
    "session_shutdown": "ended",
}

EVENTS: Mapping[str, Mapping[str, Meaning]] = {
    "claude-code": _JSON_ON_STDIN,
    "codex": _JSON_ON_STDIN,
    "gemini-cli": _GEMINI,
    "opencode": _OPENCODE,
    "pi": _PI,
    "oh-my-pi": _PI,
}
"""Every event that a harness may call us for."""


def meaning(harness: str, event: str, source: str = "") -> Meaning:
    """Return the meaning of an event; unknown harnesses and events mean nothing.

    `source` is what a session's start says of itself: one after a compaction lies inside a turn,
    and begins nothing.
    """
    found = EVENTS.get(harness, {}).get(event, "nothing")
    return "journaled" if found == "began" and source == "compact" else found
