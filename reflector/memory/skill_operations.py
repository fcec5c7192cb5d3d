"""Rule 6: at most one operation on skills per run.

Making, changing and removing one skill is one operation. So are a rename, a split and a merger,
which touch several: those are known by lines that went from one skill to the other, or by the
`replaced_by` of the old one. Mending what pointed to a path that went away is no operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding
from reflector.memory.document import Document, parse
from reflector.memory.edit import Edit, lines
from reflector.memory.finding import Finding
from reflector.memory.link_rules import Gone, went_away
from reflector.memory.skill_rules import replacements, touched

# More are compared with nobody: each is an operation of its own.
_MOST_COMPARED = 40


def operations(edit: Edit) -> Iterator[Finding]:
    """Count what a run did to skills."""
    if not edit.by_run or len(touched(edit)) < 2:
        return
    gone = went_away(edit)
    parts = {name: part for name, part in _parts(edit).items() if not _mended(part, gone)}
    groups = _groups(parts) if len(parts) <= _MOST_COMPARED else [{one} for one in sorted(parts)]
    if len(groups) > 1:
        yield finding("skill_operations", f"skills/{min(groups[1])}", count=len(groups))


@dataclass(slots=True)
class _Part:
    """What happened to one skill: the lines it lost and gained, and what it now says replaces it."""

    lost: Counter[str]
    gained: Counter[str]
    same_header: bool = True
    replaced_by: tuple[str, ...] = ()


def _parts(edit: Edit) -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    for change in edit.changes:
        place = change.path.split("/")
        if place[0] != "skills" or len(place) < 3:
            continue
        part = parts.setdefault(place[1], _Part(Counter(), Counter()))
        was, now = _prose(edit.old(change)), _prose(edit.new(change))
        part.lost += was - now
        part.gained += now - was
        if place[2:] == ["SKILL.md"]:
            old, new = _document(edit.old(change)), _document(edit.new(change))
            part.same_header = bool(old and new and old.header == new.header)
            part.replaced_by = replacements(new) if new else ()
    return parts


def _mended(part: _Part, gone: Gone) -> bool:
    """Whether nothing happened but that lines which pointed to what is gone point elsewhere."""
    fewer = part.gained.total() <= part.lost.total()
    pointed = all(gone.pointed_to_in(line) for line in part.lost)
    return part.same_header and bool(part.lost) and fewer and pointed


def _prose(raw: bytes) -> Counter[str]:
    """Count a text's own lines; headings and headers are alike in all skills."""
    document = _document(raw)
    body = document.body.split("\n") if document else lines(raw)
    stripped = (line.strip() for line in body)
    return Counter(line for line in stripped if line and not line.startswith("#"))


def _document(raw: bytes) -> Document | None:
    try:
        return parse("", raw)
    except DocumentError:
        return None


def _groups(parts: Mapping[str, _Part]) -> list[set[str]]:
    """Return which skills were touched by the same operation."""
    groups: list[set[str]] = []
    for name in sorted(parts):
        joined = [
            group
            for group in groups
            if any(_led(parts, name, one) or _led(parts, one, name) for one in group)
        ]
        groups = [group for group in groups if group not in joined]
        groups.append({name}.union(*joined))
    return sorted(groups, key=min)


def _led(parts: Mapping[str, _Part], old: str, new: str) -> bool:
    """Whether what happened to `old` explains what happened to `new`, or follows from it."""
    one, other = parts[old], parts[new]
    moved = (one.lost & other.gained).total()
    if moved and moved * 4 >= min(one.lost.total(), other.gained.total()):
        return True
    named = {each.strip("/").removeprefix("skills/").split("/")[0] for each in one.replaced_by}
    return new in named
