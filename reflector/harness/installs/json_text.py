"""A JSON text as values with their places, so that one of them can change and no other byte does."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

_DEEPEST = 100
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


class MalformedError(ValueError):
    """The text is no JSON, or not of the shape that a harness reads. `line` counts from 1."""

    def __init__(self, text: str, place: int, what: str) -> None:
        """Say what is wrong at a place of the text."""
        self.line = text.count("\n", 0, place) + 1
        self.what = what
        super().__init__(f"line {self.line}: {what}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place: `start` is its first character, `end` the one after its last.

    `value` holds a scalar; of a container it is None and the elements count.
    """

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: Any = None
    elements: tuple[Element, ...] = ()

    def member(self, key: str) -> Node | None:
        """Return the value of a key; of a key that stands twice the last, as harnesses read it."""
        found = [each.node for each in self.elements if each.key == key]
        return found[-1] if self.kind == "object" and found else None

    def plain(self) -> Any:
        """Return what the text means."""
        match self.kind:
            case "object":
                return {each.key: each.node.plain() for each in self.elements}
            case "array":
                return [each.node.plain() for each in self.elements]
            case "scalar":
                return self.value


@dataclass(frozen=True, slots=True)
class Element:
    """A member of an object (which begins with its key) or an item of an array (key "")."""

    key: str
    start: int
    node: Node
    comma: int
    """The place of the comma after it, -1 when there is none."""


def parse(text: str, *, comments: bool = False) -> Node:
    """Read one JSON value that fills the text, after a byte order mark if there is one.

    Raises MalformedError.
    """
    reader = _Reader(text, comments=comments)
    reader.skip()
    root = reader.value(0)
    reader.skip()
    if reader.here < len(text):
        raise MalformedError(text, reader.here, "something follows the end of the document")
    return root


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.here = len(text) - len(text.removeprefix("\ufeff"))
        self.comments = comments

    def skip(self) -> None:
        while True:
            self.here = _end(_SPACE, self.text, self.here)
            after = _end(_COMMENT, self.text, self.here) if self.comments else self.here
            if after == self.here:
                return
            self.here = after

    def value(self, depth: int) -> Node:
        start = self.here
        if depth > _DEEPEST:
            raise MalformedError(
                self.text, start, f"more than {_DEEPEST} levels are inside each other"
            )
        match self.text[start : start + 1]:
            case "{":
                return self._container("object", "}", depth)
            case "[":
                return self._container("array", "]", depth)
            case '"':
                value = self._string()
                return Node("scalar", start, self.here, value)
            case _:
                return self._scalar(start)

    def _scalar(self, start: int) -> Node:
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, start):
                self.here += len(word)
                return Node("scalar", start, self.here, meaning)
        end = _end(_NUMBER, self.text, start)
        if end == start:
            raise MalformedError(self.text, start, self._expected("a value"))
        self.here = end
        number = self.text[start:end]
        try:
            return Node("scalar", start, end, json.loads(number))
        except ValueError:  # thousands of digits: nobody asks for this number
            return Node("scalar", start, end, number)

    def _string(self) -> str:
        try:
            found, self.here = json.JSONDecoder().raw_decode(self.text, self.here)
        except ValueError as error:
            place = error.pos if isinstance(error, json.JSONDecodeError) else self.here
            raise MalformedError(self.text, place, "a string is not well formed") from error
        return str(found)

    def _container(self, kind: Literal["object", "array"], close: str, depth: int) -> Node:
        start = self.here
        self.here += 1
        elements: list[Element] = []
        self.skip()
        while not self.text.startswith(close, self.here):
            if elements and elements[-1].comma < 0:
                raise MalformedError(self.text, self.here, self._expected(f"a comma or {close!r}"))
            elements.append(self._element(kind, depth))
        if elements and elements[-1].comma >= 0:
            raise MalformedError(self.text, elements[-1].comma, "a comma stands before the end")
        self.here += 1
        return Node(kind, start, self.here, None, tuple(elements))

    def _element(self, kind: Literal["object", "array"], depth: int) -> Element:
        start, key = self.here, ""
        if kind == "object":
            if not self.text.startswith('"', start):
                raise MalformedError(self.text, start, self._expected("a key in double quotes"))
            key = self._string()
            self.skip()
            if not self.text.startswith(":", self.here):
                raise MalformedError(self.text, self.here, self._expected("a colon"))
            self.here += 1
            self.skip()
        node = self.value(depth + 1)
        self.skip()
        comma = self.here if self.text.startswith(",", self.here) else -1
        if comma >= 0:
            self.here += 1
            self.skip()
        return Element(key, start, node, comma)

    def _expected(self, what: str) -> str:
        found = self.text[self.here : self.here + 1]
        return f"{what} is expected, not {found!r}" if found else f"{what} is missing at the end"


def _end(pattern: re.Pattern[str], text: str, here: int) -> int:
    found = pattern.match(text, here)
    return found.end() if found else here
