"""Reads what foreign rows have in common: times, ids, arguments, content blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from reflector.core.ambient import stamp

_MILLISECONDS_FROM = 100_000_000_000
"""An epoch number at least this big counts milliseconds: as seconds it would be the year 5138."""

_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")

_STRONG = 20
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_IMAGES = frozenset({"image", "image_url", "input_image", "output_image"})


def text_at(row: Mapping[str, Any], *names: str) -> str:
    """Return the first non-empty string under one of these names, or ""."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def object_at(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under this name, or an empty one."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the items of a list with everything that is no object made an empty one.

    Empty rather than left out: the position of a block is part of its identity.
    """
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]


def moment(value: object) -> str:
    """Return a time as RFC 3339 UTC with milliseconds, "" if it cannot be read.

    Takes ISO 8601 text (without a zone: UTC) and epoch numbers in seconds or milliseconds.
    """
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            if _CANONICAL.match(value):
                return value
            return stamp(read if read.tzinfo else read.replace(tzinfo=UTC))
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return stamp(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return ""
    return ""


def arguments_of(value: object) -> str:
    """Return tool arguments as compact JSON, or as they are when they are text already."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return _compact(value)


def text_of(content: object) -> str:
    """Return the text of content in any usual form: text, a block, a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part for part in map(_part, content) if part)
    if isinstance(content, dict):
        return _part(content)
    return "" if content is None else arguments_of(content)


def _part(part: object) -> str:
    if not isinstance(part, dict):
        return text_of(part)
    kind = part.get("type")
    if isinstance(kind, str) and kind in _IMAGES:
        return "[image]"
    for name in ("text", "refusal"):
        if isinstance(part.get(name), str):
            return str(part[name])
    if "content" in part:
        return text_of(part["content"])
    return f"[{kind}]" if isinstance(kind, str) and kind else arguments_of(part)


def scoped(session: str, native: str) -> str:
    """Return an id that is unique over all sessions of a harness.

    Short ids ("1", "msg_3", "chatcmpl-123") come from counters and small random numbers; taken
    as they are, a second conversation would lose its rows to the first as duplicates.
    """
    return native if len(native) >= _STRONG else f"{session}.{native}"
