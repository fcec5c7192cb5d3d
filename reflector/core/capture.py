"""What happens to an entry before it is written anywhere, in an order that matters."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
    parts = [entry.text, entry.tool, entry.arguments, entry.result or ""]
    filled = [at for at, part in enumerate(parts) if part]  # of four parts most are empty
    clean, counts = redact_record([strip(parts[at], typed=typed) for at in filled])
    for at, part in zip(filled, clean, strict=True):
        parts[at] = _writable(part)
    text, tool, arguments, result = parts
    captured = Entry(
        entry.id,
        entry.message_id,
        entry.kind,
        REASONING if text and entry.kind is Kind.REASONING else text,
        tool,
        shorten(arguments, TOOL_LIMIT),
        None if entry.result is None else shorten(result, TOOL_LIMIT),
        entry.at,
    )
    return captured, counts


def _writable(text: str) -> str:
    # Nearly all text is: these two looks cost far less than a pass of the pattern.
    if text.isascii() and "\0" not in text:
        return text
    return _UNWRITABLE.sub("\ufffd", text)


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
