"""Whether a turn is worth keeping: what is asked, and how the answer is read."""

from __future__ import annotations

import re
from typing import Final

from reflector.pipelines.decisions.pasted import pasted

MOST_OUTPUT_TOKENS: Final = 8
SECONDS: Final = 20.0
MOST_CHARACTERS: Final = 240

_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+")
_NO = re.compile(r"[\W_]*(?:(?:no|nope|nein|non)\b(?!-)|不|否|いいえ|아니)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]")


def last_sentence(text: str) -> str:
    """Return the last sentence that a person typed in a message, at most 240 characters of it.

    What was pasted is not theirs; "" when nothing else is there.
    """
    found = [each.strip() for each in _ENDS.split(typed(text)) if _WORD.search(each)]
    return found[-1][-MOST_CHARACTERS:] if found else ""


def typed(text: str) -> str:
    """Return a message without what was pasted into it."""
    kept: list[str] = []
    at = 0
    for start, end in sorted(pasted(text)):
        kept.append(text[at : max(at, start)])
        at = max(at, end)
    return "\n".join((*kept, text[at:]))


def keeps(answer: str) -> bool:
    """Read the answer: only a plain no is a no, whatever else was said is a yes."""
    first = answer.strip().split("\n")[0][:40]
    return _NO.match(first) is None
