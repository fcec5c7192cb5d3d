"""Which facts are so old, and so long not recalled, that a line of ARCHIVE.md is enough for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflector.core.ellipsis import shortened
from reflector.memory.edit import MAX_FILE
from reflector.memory.experiences.chains import Known, chain
from reflector.memory.experiences.form import Stored
from reflector.memory.tree import ARCHIVE

MOST = 50
"""So many facts go at once: whoever reads the commit sees what went."""

_LONGEST = 160


def aged(
    known: Known, recalled: Mapping[str, str], before: str, archive: bytes = b"", most: int = MOST
) -> list[Stored]:
    """Return facts that nobody made, changed or recalled since a day, the oldest first.

    `recalled` is the last day by path. Of a chain all go or none: its links stay whole. What the
    archive names already was brought back by somebody, and stays, as does what a person protected.
    """

    def old(one: Stored) -> bool:
        ended = one.layer == "fact" and _last(one, recalled) < before
        return ended and not one.read_only and one.path.encode() not in archive

    found: dict[str, Stored] = {}
    for one in sorted(known.values(), key=lambda each: (each.created, each.id)):
        links = chain(known, one.id) if one.id not in found else ()
        if len(found) + len(links) <= most and all(map(old, links)):
            found |= {each.id: each for each in links}
    return list(found.values())


def archived(facts: Sequence[Stored], archive: bytes, day: str) -> dict[str, bytes | None]:
    """Return the change that leaves a dated line of each; none where ARCHIVE.md would get too large."""
    text = archive if not archive or archive.endswith(b"\n") else archive + b"\n"
    text += "".join(
        f"- {day}: {one.path}: {shortened(one.about, _LONGEST)}\n" for one in facts
    ).encode()
    if not facts or len(text) > MAX_FILE:
        return {}
    return {ARCHIVE: text, **dict.fromkeys((one.path for one in facts), None)}


def _last(one: Stored, recalled: Mapping[str, str]) -> str:
    return max(one.created[:10], one.updated[:10], recalled.get(one.path, ""))
