"""How single pieces of a segment are shortened: by how much is always said, and never twice."""

from __future__ import annotations

import json
import re

RESULT = 2048
RESULT_HEAD = 1024
RESULT_TAIL = 512
"""Bytes of a tool's result, in UTF-8."""

SAID_PART = 3000
"""Characters of the head, and of the tail, of what an assistant said."""

ARGUMENTS = 600

_CUT = re.compile(r"\n… \[[0-9]{1,15} characters left out\] …\n")


def result(text: str) -> str:
    """Keep the head and the tail of a tool's result, in bytes; at most `RESULT` of them are left."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= RESULT:
        return text
    head = raw[:RESULT_HEAD].decode("utf-8", "ignore")
    tail = raw[-RESULT_TAIL:].decode("utf-8", "ignore")
    omitted = len(raw) - len(head.encode()) - len(tail.encode())
    return f"{head}\n… [{omitted} bytes left out] …\n{tail}"


def said(text: str, part: int = SAID_PART) -> str:
    """Keep the head and the tail of a long text; one that was shortened like that stays."""
    if len(text) <= 2 * part or _is_short(text, part):
        return text
    omitted = len(text) - 2 * part
    return f"{text[:part]}\n… [{omitted} characters left out] …\n{text[-part:]}"


def _is_short(text: str, part: int) -> bool:
    return _CUT.fullmatch(text, part, max(part, len(text) - part)) is not None


def arguments(text: str) -> str:
    """Write arguments as compact JSON on one line, at most `ARGUMENTS` characters."""
    try:
        compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        compact = text.strip()
    line = " ".join(compact.splitlines())
    return line if len(line) <= ARGUMENTS else f"{line[: ARGUMENTS - 1]}…"
