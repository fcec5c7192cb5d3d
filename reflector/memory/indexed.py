"""What of a document is searched, for whose eyes it is, and how far it can be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from reflector.core.cleaning import clean
from reflector.core.errors import DocumentError
from reflector.core.experience import CONFIDENCE
from reflector.memory.tree import is_document, tier

if TYPE_CHECKING:
    from reflector.memory.document import Document

_HEADING = re.compile(r"#{1,6}[ \t]+(.+)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_BOUND = ("experiences", "facts")
_SECTION = 2000
"""Characters after which a section ends at the next line, whether a heading follows or not."""
ACTIVE, SUPERSEDED = "active", "superseded"
LAYERS = ("documents", "decisions", "experiences", "facts")
"""The parts of a memory that can be searched alone; what is no other is a document."""
_LAYER_OF = {"projects": "decisions", "experiences": "experiences", "facts": "facts"}


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is found by itself: what stands below one heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What a document says of itself; one that says nothing is current, certain and verified.

    `item` is the id of an experience or a fact. `links` are the paths it names, `evidence` the
    entries it was taken from.
    """

    item: str = ""
    status: str = ACTIVE
    branch: str = ""
    confidence: float = 1.0
    verified: bool = True
    links: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as it is searched, without secrets. `bank` is "" when it is for every project."""

    path: str
    description: str
    keys: str
    bank: str
    passages: tuple[Passage, ...]
    standing: Standing = Standing()

    @property
    def layer(self) -> str:
        """Return which of the layers it is of."""
        return layer_of(self.path)


def layer_of(path: str) -> str:
    """Return which of the layers a document's path lies in."""
    return _LAYER_OF.get(path.partition("/")[0], LAYERS[0])


def indexed(path: str, raw: bytes) -> Indexed | None:
    """Read what is searched of a file; None when it is not found by anybody.

    That is so of what is no document or cannot be parsed (`memory lint` names it), and of a path
    that holds a secret. What another document took the place of is found by those alone who ask
    for it (F135).
    """
    if not is_document(path) or clean(path) != path:
        return None
    from reflector.memory.document import parse  # noqa: PLC0415 - only what changed is parsed

    try:
        document = parse(path, raw)
    except DocumentError:
        return None
    searched = clean(_parts(path, document.body)[0])
    about, keys = clean(document.description), clean("\n".join(_texts(document, "search_keys")))
    standing = _standing(path, document, searched)
    return Indexed(path, about, keys, _bank(path, document), tuple(passages(searched)), standing)


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


def _parts(path: str, body: str) -> tuple[str, str]:
    """Return what is searched, and what a fact keeps word for word, which is shown on request."""
    if tier(path) != "facts":
        return body, ""
    from reflector.memory.experiences.form import parts  # noqa: PLC0415 - as above

    return parts("fact", body)


def details_of(raw: bytes, path: str) -> str:
    """Return what a fact keeps word for word, without secrets; "" when it keeps nothing."""
    from reflector.memory.document import parse  # noqa: PLC0415 - shown on request alone

    try:
        body = parse(path, raw).body
    except DocumentError:
        return ""
    return clean(_parts(path, body)[1])


def _standing(path: str, document: Document, body: str) -> Standing:
    from reflector.memory.document import links  # noqa: PLC0415 - as above
    from reflector.memory.experiences.form import id_of, superseded  # noqa: PLC0415

    status = SUPERSEDED if superseded(document) else ACTIVE
    if tier(path) not in _BOUND:
        return Standing(status=status)
    return Standing(
        item=id_of(path),
        status=status,
        branch=clean(_text(document, "branch")),
        confidence=_confidence(document.value("confidence")),
        verified=document.value("verified") not in (False, "false"),
        links=tuple(each.path for each in links(body)),
        evidence=tuple(map(clean, _texts(document, "evidence"))),
    )


def _confidence(given: object) -> float:
    """Read how sure an item is; one that says nothing was written by hand, and is sure."""
    if given is None:
        return 1.0
    try:
        found = float(str(given))
    except ValueError:
        return CONFIDENCE
    return CONFIDENCE if isnan(found) else min(max(found, 0.0), 1.0)


def _texts(document: Document, key: str) -> list[str]:
    found = document.value(key)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _text(document: Document, key: str) -> str:
    found = document.value(key)
    return found if isinstance(found, str) else ""


def _bank(path: str, document: Document) -> str:
    parts = path.split("/")
    if parts[0] == "projects" and len(parts) > 2:
        return parts[1]
    project = document.value("project") if parts[0] in _BOUND else None
    return project if isinstance(project, str) else ""
