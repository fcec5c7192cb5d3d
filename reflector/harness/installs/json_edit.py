"""Edits of a JSON text: an element appended, replaced or removed, every other byte as it was.

What is appended stands last, so that nothing before it moves: Codex files a person's trust in a
hook under its position. `appended` and `removed` undo each other to the byte, but for the white
space in a container that was empty: `hollow` returns it, `emptied` puts it back.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from reflector.harness.installs.json_text import Node

_BESIDE = re.compile(r"[ \t]*(//[^\r\n]*|/\*[^\r\n]*?\*/)")
_LINE_END = re.compile(r"[ \t]*\r?\n")
_INDENT = re.compile(r"[ \t]*")
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Style:
    """How a file is laid out: one step of indentation, and how its lines end."""

    unit: str
    newline: str


def style_of(text: str, root: Node) -> Style:
    """Read the layout from the first line that is indented; two blanks where nothing tells."""
    newline = "\r\n" if "\r\n" in text else "\n"
    first = root.elements[0] if root.elements else None
    alone = first is not None and "\n" in text[root.start : first.start]
    return Style(_indent(text, first.start) if first and alone else "  ", newline)


def appended(text: str, container: Node, key: str, value: Any, style: Style) -> str:
    """Put a value last into a container; `key` is "" in an array."""
    if not container.elements:
        return _filled(text, container, key, value, style)
    last = container.elements[-1]
    first = container.elements[0]
    place, open_ended = _after(text, last.node.end)
    lines = "\n" in text[container.start : first.start]
    if lines or open_ended:
        indent = _indent(text, first.start if lines else container.start)
        new = style.newline + indent + _written(key, value, style, indent)
    else:
        new = " " + _on_one_line(key, value)
    return text[: last.node.end] + "," + text[last.node.end : place] + new + text[place:]


def replaced(text: str, node: Node, value: Any, style: Style) -> str:
    """Put another value where one stands."""
    lines = "\n" in text[node.start : node.end]
    new = _written("", value, style, _indent(text, node.start)) if lines else json.dumps(value)
    return text[: node.start] + new + text[node.end :]


def removed(text: str, container: Node, index: int) -> str:
    """Take an element out, with the comma and the white space that it came with."""
    element = container.elements[index]
    before = container.elements[index - 1].comma if index else -1
    end = element.node.end if element.comma < 0 else element.comma + 1
    start = len(text[: element.start].rstrip(_BLANKS))
    gap = text[max(before, container.start) : start]
    if "//" in gap.rpartition("\n")[2] and not _LINE_END.match(text, end):
        start = element.start  # what follows would become part of a comment
    if element.comma < 0 <= before:
        return text[:before] + text[before + 1 : start] + text[end:]
    return text[:start] + text[end:]


def hollow(text: str, container: Node) -> str:
    """Return the white space before the end of a container that holds nothing."""
    inner = text[container.start + 1 : container.end - 1]
    return inner[len(inner.rstrip(_BLANKS)) :]


def emptied(text: str, container: Node, space: str) -> str:
    """Put white space before the end of a container that holds nothing."""
    end = container.end - 1
    return text[: len(text[:end].rstrip(_BLANKS))] + space + text[end:]


def _filled(text: str, container: Node, key: str, value: Any, style: Style) -> str:
    end = container.end - 1
    place = len(text[:end].rstrip(_BLANKS))
    outer = _indent(text, container.start)
    indent = outer + style.unit
    rest = text[place:end]
    close = "" if "\n" in rest else style.newline + outer
    new = style.newline + indent + _written(key, value, style, indent)
    return text[:place] + new + close + rest + text[end:]


def _after(text: str, end: int) -> tuple[int, bool]:
    """Return the place after the comments on the same line, and whether they end with the line."""
    open_ended = False
    while found := _BESIDE.match(text, end):
        open_ended = found[1].startswith("//")
        end = found.end()
    return end, open_ended


def _indent(text: str, place: int) -> str:
    """Return the white space that the line of a place begins with."""
    line = text.rfind("\n", 0, place) + 1
    found = _INDENT.match(text, line)
    return found[0] if found else ""


def _written(key: str, value: Any, style: Style, indent: str) -> str:
    lines = json.dumps(value, indent=style.unit, ensure_ascii=False)
    return _named(key) + lines.replace("\n", style.newline + indent)


def _on_one_line(key: str, value: Any) -> str:
    return _named(key) + json.dumps(value, ensure_ascii=False)


def _named(key: str) -> str:
    return json.dumps(key, ensure_ascii=False) + ": " if key else ""
