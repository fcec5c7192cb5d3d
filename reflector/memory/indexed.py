"""What of a document is searched, and for whose eyes it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reflector.core.cleaning import clean
from reflector.core.errors import DocumentError
from reflector.memory.tree import is_document, tier

if TYPE_CHECKING:
    from reflector.memory.document import Document

_HEADING = re.compile(r"#{1,6}[ \t]+(.+)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_DETAILS = re.compile(r"^## Details[ \t]*$", re.MULTILINE)
_BOUND = ("experiences", "facts")
_SECTION = 2000
"""Characters after which a section ends at the next line, whether a heading follows or not."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is found by itself: what stands below one heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as it is searched, without secrets. `bank` is "" when it is for every project."""

    path: str
    description: str
    keys: str
    bank: str
    passages: tuple[Passage, ...]


def indexed(path: str, raw: bytes) -> Indexed | None:
    """Read what is searched of a file; None when it is not found by anybody.

    That is so of what is no document or cannot be parsed (`memory lint` names it), of a path that
    holds a secret, and of what another document took the place of (F135).
    """
    if not is_document(path) or clean(path) != path:
        return None
    from reflector.memory.document import parse  # noqa: PLC0415 - only what changed is parsed

    try:
        document = parse(path, raw)
    except DocumentError:
        return None
    if document.value("superseded_by") or document.value("status") == "superseded":
        return None
    body = clean(_searched(path, document.body))
    about, keys = clean(document.description), clean(_keys(document))
    return Indexed(path, about, keys, _bank(path, document), tuple(passages(body)))


def passages(body: str) -> Iterator[Passage]:
    """Cut a body at its headings, and what is long at lines; at least one passage.

    Each is ranked by itself: in a document of many sections the others would hide the one that
    answers (`scripts/bench recall` shows by how much).
    """
    heading, size, fenced, any_yet = "", 0, False, False
    lines: list[str] = []
    for line in body.split("\n"):
        found = None if fenced else _HEADING.match(line)
        if (found or size > _SECTION) and size:
            yield Passage(heading, "\n".join(lines).strip("\n"))
            lines, size, any_yet = [], 0, True
        fenced ^= _FENCE.match(line) is not None
        heading = found[1] if found else heading
        lines.append("" if found else line)
        size += len(line)
    if size or not any_yet:
        yield Passage(heading, "\n".join(lines).strip("\n"))


def _searched(path: str, body: str) -> str:
    """Leave out what a fact keeps word for word: it is shown on request, and not searched."""
    details = _DETAILS.search(body) if tier(path) == "facts" else None
    return body[: details.start()] if details else body


def _keys(document: Document) -> str:
    keys = document.value("search_keys")
    if not isinstance(keys, list):
        return ""
    return "\n".join(key for key in keys if isinstance(key, str))


def _bank(path: str, document: Document) -> str:
    parts = path.split("/")
    if parts[0] == "projects" and len(parts) > 2:
        return parts[1]
    project = document.value("project") if parts[0] in _BOUND else None
    return project if isinstance(project, str) else ""
