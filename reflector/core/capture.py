"""What happens to an entry before it is written anywhere, in an order that matters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from reflector.core.entry import Entry, Kind
from reflector.core.redact import redact_record
from reflector.core.sentinel import strip

REASONING = "[reasoning]"
TOOL_LIMIT = 4096

# A lone surrogate makes the whole request body invalid JSON, a NUL ends strings in other programs.
_UNWRITABLE = re.compile("[\ud800-\udfff\0]")
_CUT = re.compile(r"\n… \[(\d+) characters left out\] …\n")


def capture(entry: Entry) -> tuple[Entry, Mapping[str, int]]:
    """Return the entry as it may be kept, and how many secrets each rule took out.

    Injected memory goes first, secrets before anything is shortened (half a key would escape its
    rule). Capturing twice changes nothing.
    """
    typed = entry.kind is not Kind.TOOL_CALL
    parts = (entry.text, entry.tool, entry.arguments, entry.result or "")
    stripped = tuple(strip(part, typed=typed) for part in parts)
    clean, counts = redact_record(stripped)
    text, tool, arguments, result = (_UNWRITABLE.sub("\ufffd", part) for part in clean)
    if entry.kind is Kind.REASONING:
        text = REASONING if text else ""
    return (
        replace(
            entry,
            text=text,
            tool=tool,
            arguments=shorten(arguments, TOOL_LIMIT),
            result=None if entry.result is None else shorten(result, TOOL_LIMIT),
        ),
        counts,
    )


def shorten(text: str, limit: int) -> str:
    """Keep head and tail of a text longer than `limit` characters, around the number left out.

    Head and tail are half the limit each; what was shortened to this limit stays as it is.
    """
    half = limit // 2
    if len(text) <= limit or _shortened(text, half):
        return text
    head, tail = text[:half], text[len(text) - half :]
    return f"{head}\n… [{len(text) - 2 * half} characters left out] …\n{tail}"


def _shortened(text: str, half: int) -> bool:
    cut = _CUT.match(text, half)
    return cut is not None and len(text) - cut.end() == half
