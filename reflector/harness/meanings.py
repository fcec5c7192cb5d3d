"""What a harness's hook events mean to us."""

from __future__ import annotations

from typing import Literal

Meaning = Literal["began", "spoke", "settled", "compacting", "ended", "nothing"]

_CLAUDE: dict[str, Meaning] = {
    "SessionStart": "began",
    "UserPromptSubmit": "spoke",
    "Stop": "settled",
    "PreCompact": "compacting",
    "SessionEnd": "ended",
}

_MEANINGS: dict[str, dict[str, Meaning]] = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE,
}


def meaning(harness: str, event: str) -> Meaning:
    """Return the meaning of an event; unknown harnesses and events mean nothing."""
    return _MEANINGS.get(harness, {}).get(event, "nothing")
