"""Which experiences and facts a block names: those of its project, the newest first, the rest counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflector.memory.document import Document
from reflector.memory.experiences.form import superseded

Gist = tuple[str, str]
"""What a block needs of an item: its description, and when and for which project it was made."""

NEWEST = 12
"""So many facts are named; of a thousand a session could read none."""

_MONTHS = 6
_LOOKED_AT = 1000


def gist(document: Document) -> Gist | None:
    """Return what a block needs of an item's document; None when something replaced it."""
    if superseded(document):
        return None
    created, project = document.value("created"), document.value("project")
    made = created if isinstance(created, str) else ""
    return document.description, f"{made} {project if isinstance(project, str) else ''}"


def experiences(paths: Sequence[str], known: Mapping[str, Gist], bank: str | None) -> list[str]:
    """Return the experiences that a session may use, the newest first; of all for no bank."""
    mine = _mine(paths[:_LOOKED_AT], known, bank)
    return [*mine, *paths[_LOOKED_AT:]]


def facts(
    paths: Sequence[str], known: Mapping[str, Gist], bank: str | None
) -> tuple[list[str], dict[str, Gist]]:
    """Return the newest facts of a session's project, and how many more there are, by month.

    Months that lie behind the newest facts are only counted, with those of all projects: to read
    thousands would cost more than all the rest of a block.
    """
    months: dict[str, list[str]] = {}
    for path in paths:
        months.setdefault(path.split("/")[1] if path.count("/") > 1 else "", []).append(path)
    shown: list[str] = []
    more: dict[str, int] = {}
    looked = 0
    for month in sorted(months, reverse=True):
        mine = months[month]
        if len(shown) < NEWEST and looked < _LOOKED_AT:
            looked += len(mine)
            mine = _mine(mine, known, bank)
        room = NEWEST - len(shown)
        shown += mine[:room]
        if mine[room:]:
            more[month] = len(mine[room:])
    return shown, _counted(more)


def _mine(paths: Sequence[str], known: Mapping[str, Gist], bank: str | None) -> list[str]:
    made = {path: known[path][1].rpartition(" ") for path in paths}
    mine = [path for path in paths if bank is None or made[path][2] in ("", bank)]
    return sorted(mine, key=lambda path: made[path][0], reverse=True)


def _counted(more: Mapping[str, int]) -> dict[str, Gist]:
    """Return a line for each of the last months and one for all before, as if they were documents."""
    months = list(more)
    lines = {f"facts/{month}".rstrip("/"): more[month] for month in months[:_MONTHS]}
    if earlier := sum(more[month] for month in months[_MONTHS:]):
        lines["facts/earlier"] = earlier
    return {
        path: (f"{count} more {'fact' if count == 1 else 'facts'}; recall finds them", "")
        for path, count in lines.items()
    }
