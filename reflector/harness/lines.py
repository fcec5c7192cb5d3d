"""Splits a stream of bytes into JSON objects, with their places in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from reflector.harness.events import Json

LONGEST = 64 * 1024 * 1024
"""Bytes of the longest line that is read; a longer one counts as bad."""

DEEPEST = 100
"""Levels of the deepest object that is read; a deeper one counts as bad.

Whoever walks through an object may need several calls for a level, on whatever stack it is on.
"""

_BLANK = re.compile("[ \t\r\n\ufeff]*")
_decode_from = json.JSONDecoder().raw_decode


class Row(NamedTuple):
    """One object: where its line or piece begins, where reading goes on behind it, its bytes."""

    start: int
    end: int
    value: Json
    raw: bytes


class Bad(NamedTuple):
    """The rest of a line that cannot be read."""

    start: int
    end: int


def read_rows(stream: BinaryIO, start: int) -> Iterator[Row | Bad]:
    """Yield the objects from this byte on.

    Only LF ends a line: `str.splitlines` would cut inside strings at U+2028. An unterminated last
    line gives its whole objects; what is torn behind them is left for later and not reported.
    """
    stream.seek(start)
    while line := stream.readline(LONGEST):
        if not line.endswith(b"\n"):
            if len(line) < LONGEST:
                yield from _pieces(line, start, whole=False)
                return
            rest = _skip_line(stream)
            if not rest:
                return
            yield Bad(start, start + len(line) + rest)
            start += len(line) + rest
            continue
        end = start + len(line)
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and not _deep(value, line):
            yield Row(start, end, value, line)
        else:
            yield from _pieces(line, start, whole=True)
        start = end


def _skip_line(stream: BinaryIO) -> int:
    """Read on behind the next LF; return the bytes passed, 0 when the file ends first."""
    passed = 0
    while piece := stream.readline(LONGEST):
        passed += len(piece)
        if piece.endswith(b"\n"):
            return passed
    return 0


def _pieces(line: bytes, start: int, *, whole: bool) -> Iterator[Row | Bad]:
    """Yield the objects of one difficult line: glued together, behind a byte order mark, torn."""
    text, readable = _decoded(line)
    at, here = start, 0
    while (begin := _blank_to(text, here)) < len(text):
        at += _width(text[here:begin])
        try:
            value, here = _decode_from(text, begin)
        except (ValueError, RecursionError):
            readable = False
            break
        raw = text[begin:here].encode()
        if not isinstance(value, dict) or _deep(value, raw):
            readable = False
            break
        last = whole and readable and _blank_to(text, here) == len(text)
        yield Row(at, start + len(line) if last else at + len(raw), value, raw)
        at += len(raw)
    if whole and not readable:
        yield Bad(at, start + len(line))


def too_deep(value: object) -> bool:
    """Tell whether a decoded value is nested too deep to be read."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        holding = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for held in holding for each in held if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _deep(value: object, raw: bytes) -> bool:
    """Tell the same, of most objects by a look at their bytes."""
    return raw.count(b"[") + raw.count(b"{") > DEEPEST and too_deep(value)


def _decoded(line: bytes) -> tuple[str, bool]:
    """Return the text up to the first byte that is no UTF-8, and whether that is all of it.

    The readable front is kept so that an object which an earlier read took from the same,
    then unfinished, line is found again.
    """
    try:
        return line.decode(), True
    except UnicodeDecodeError as error:
        return line[: error.start].decode(), False


def _blank_to(text: str, here: int) -> int:
    blank = _BLANK.match(text, here)
    return blank.end() if blank else here


def _width(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
