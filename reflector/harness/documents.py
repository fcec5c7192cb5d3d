"""Transcripts that are one JSON value over many lines: recognised, decoded once, made rows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import SEEK_END
from typing import Any, BinaryIO

from reflector.core.errors import TranscriptError
from reflector.harness.events import Json
from reflector.harness.lines import Bad, Row, too_deep

LARGEST = 256 * 1024 * 1024
"""Bytes of the largest document that is read: it has to be decoded as a whole."""

_OVER_LINES = re.compile(rb"(\xef\xbb\xbf)?\s*(\[|\{[ \t\r]*\n)")
_FAMILIAR = re.compile(
    rb'"(projectHash|trajectory)"\s*:|"info"\s*:\s*\{\s*"id"\s*:\s*"ses_'
    rb'|"source"\s*:\s*"(agent|user|environment)"'
)
"""What stands in the documents that we read: one that does not decode is being written."""

_LISTS = (("messages",), ("history", "trajectory"))
"""The lists that a transcript may lie in; of two the first that is not empty counts."""

_TAIL = 12
"""Characters at the end within which a decoder may notice that a text was cut off."""


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded document: its rows, its bytes, and a number that changes with its content.

    A row that is nested too deep to be read is an empty one.
    """

    values: tuple[Json, ...]
    size: int
    mark: int

    def rows(self) -> Iterator[Row | Bad]:
        """Yield the rows as if each stood in a line of its own, in one fixed spelling."""
        start = 0
        for value in self.values:
            raw = json.dumps(value, sort_keys=True).encode()
            end = start + len(raw)
            yield Row(start, end, value, raw) if value else Bad(start, end)
            start = end


def read_document(
    stream: BinaryIO, stem: str, head: bytes, ahead: Sequence[Json]
) -> Document | None:
    """Return the document that a source consists of, None if it is none.

    `head` are its first bytes, `ahead` the objects of its first lines. Raises `TranscriptError`
    for a document that is too large, or not complete yet.
    """
    if not _OVER_LINES.match(head):
        only = rows_of(ahead[0]) if len(ahead) == 1 else None
        return None if only is None else _document(only, _content(stream, stem))
    content = _content(stream, stem)
    value = _decoded(content.decode("utf-8-sig", "replace"), stem, has_rows=bool(ahead), head=head)
    found = rows_of(value)
    return None if found is None else _document(found, content)


def _decoded(text: str, stem: str, *, has_rows: bool, head: bytes) -> object:
    """Return the value, None for a text that is no JSON and may be something else."""
    familiar = not has_rows and _FAMILIAR.search(head) is not None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if _cut_off(error, text) or familiar:
            raise TranscriptError(
                f"{stem} is not complete yet: it ends, or breaks, in line {error.lineno}.",
                hint="Try again when it has been written to its end.",
                familiar=familiar,
            ) from error
        return None
    except (ValueError, RecursionError) as error:
        if familiar:
            raise TranscriptError(
                f"{stem} cannot be decoded: a number in it is too long, or it is nested too deep.",
                hint="No harness writes that; look at where it comes from.",
                familiar=True,
            ) from error
        return None


def rows_of(value: Any) -> tuple[Json, ...] | None:
    """Return the rows of a decoded document: its head with emptied lists, then what they held.

    A list has no head, and a head that says nothing is left out. None: it holds no rows.
    """
    if isinstance(value, list):
        return tuple(row for row in value if isinstance(row, dict))
    if not isinstance(value, dict):
        return None
    for names in _LISTS:
        lists = [value.get(name) for name in names]
        if all(isinstance(each, list) for each in lists):
            head = {**value, **{name: [] for name in names}}
            rows = next((each for each in lists if each), None) or []
            items = tuple(row for row in rows if isinstance(row, dict))
            return items if set(head) == {"messages"} else (head, *items)
    return None


def _content(stream: BinaryIO, stem: str) -> bytes:
    size = stream.seek(0, SEEK_END)
    if size > LARGEST:
        raise TranscriptError(
            f"{stem} is one JSON document of {size} bytes; at most {LARGEST} are read.",
            hint="Split it, or let its harness export the sessions one by one.",
            familiar=True,
        )
    stream.seek(0)
    return stream.read()


def _document(values: tuple[Json, ...], content: bytes) -> Document:
    digest = hashlib.sha256(content).hexdigest()
    readable = tuple({} if too_deep(each) else each for each in values)
    return Document(readable, len(content), int(digest[:15], 16))


def _cut_off(error: json.JSONDecodeError, text: str) -> bool:
    unterminated = error.msg.startswith("Unterminated string")
    return unterminated or error.pos >= len(text.rstrip()) - _TAIL
