"""Why an agent CLI failed: what it printed, in the closed vocabulary of runs."""

from __future__ import annotations

import re
from typing import Final

_BY_NAME: Final = {
    "refusal": "refusal",
    "error_max_turns": "limits",
    "error_max_budget_usd": "limits",
    "status 401": "auth",
    "status 402": "quota",
    "status 403": "auth",
    "status 404": "model_not_found",
    "status 413": "context_overflow",
}
# A number by itself may be a line of a stack trace.
_STATUS: Final = r"(?:status|error|http\S*)[ :=]{1,3}"
_WORDS: Final = (
    ("context_overflow", "prompt is too long", r"context (?:window|length)", "maximum context"),
    ("quota", "credit balance", "usage limit", "billing", "quota", "hit your limit"),
    ("quota", r"insufficient[ _](?:credit|funds)", r"(?:session|weekly|daily) limit"),
    ("auth", rf"{_STATUS}40[13]\b", "unauthorized", "authentication", "api key", "credentials"),
    ("auth", "not logged in", "/login", "log ?in again", "sign in", "oauth token"),
    ("model_not_found", r"model[^\n]{0,80}(?:not[ _]found|not exist|not supported|unknown)"),
    ("model_not_found", r"(?:unknown|invalid|selected) model", "ModelNotFound", rf"{_STATUS}404\b"),
    ("overloaded", "overloaded", rf"{_STATUS}(?:408|409|429|5\d\d)\b", "rate.?limit"),
    ("overloaded", "timed? ?out"),
    ("overloaded", "too many requests", "fetch failed", "stream disconnected", "unavailable"),
    ("overloaded", r"connection (?:error|refused|reset)", "ECONN", "ENOTFOUND", "EAI_AGAIN"),
    ("overloaded", "error sending request"),
    ("refusal", r"\brefus(?:ed|al)\b", "usage policy"),
    ("disk_full", "ENOSPC", "no space left"),
)
_BY_WORDS: Final = [
    (reason, re.compile("|".join(words), re.IGNORECASE)) for reason, *words in _WORDS
]


def reason_of(why: str, words: str, otherwise: str) -> str:
    """Return the reason for a failure: by the name it was given, else by its words."""
    if why in _BY_NAME:
        return _BY_NAME[why]
    return next((reason for reason, said in _BY_WORDS if said.search(words)), otherwise)
