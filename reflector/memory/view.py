"""What a revision shows of a memory: which documents in full, which by name, and to which project."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from reflector.core.decision import FILES
from reflector.core.errors import DocumentError
from reflector.memory.document import parse
from reflector.memory.experiences import listing
from reflector.memory.tree import is_document

_PROJECTS = "projects/"
_SKILLS = "skills/"
_SKILL = "/SKILL.md"
_EXPERIENCES, _FACTS = _ITEMS = ("experiences/", "facts/")
_DECISIONS = tuple(f"{name}.md" for name in FILES)


@dataclass(frozen=True, slots=True)
class Shown:
    """A document that is shown with its body."""

    path: str
    description: str
    body: str


@dataclass(frozen=True, slots=True)
class Named:
    """A document that is shown by path and description only."""

    path: str
    description: str


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, shown by name and description."""

    name: str
    description: str
    path: str


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What the block is compiled from: one revision of one identity's memory, for one project.

    `others` are sorted by path, items of `experiences/` and `facts/` by age. `decisions` are the
    files of the project's bank, in their order.
    """

    identity: str
    revision: str
    system: Sequence[Shown] = ()
    others: Sequence[Named] = ()
    skills: Sequence[Skill] = ()
    bank: str = ""
    decisions: Sequence[Shown] = ()


# What the block needs of a document: its description, and the text of a system document or of a
# file of decisions, the name of a skill, or when and for whom an item was made. Plain pairs,
# because a memory has thousands and each is stored and loaded.
Gist = tuple[str, str]


def gist(path: str, raw: bytes) -> Gist | None:
    """Read what the block needs of a file; None when it is not shown.

    A document that cannot be parsed is not shown: a person's commit that does not lint stays
    theirs, and `memory lint` names it.
    """
    if not is_document(path):
        return None
    skill = path.startswith(_SKILLS)
    if skill and not (path.endswith(_SKILL) and path.count("/") == 2):
        return None
    try:
        document = parse(path, raw)
    except DocumentError:
        return None
    if path.startswith("system/") or decided(path):
        return document.description, document.body
    if path.startswith(_ITEMS):
        return listing.gist(document)
    name = str(document.value("name") or "") or path.split("/")[1] if skill else ""
    return document.description, name


def decided(path: str) -> bool:
    """Tell whether a document is one of the files of a bank of decisions."""
    top, _, rest = path.partition("/")
    bank, slash, name = rest.partition("/")
    return f"{top}/" == _PROJECTS and bool(bank and slash) and name in _DECISIONS


@dataclass(frozen=True, slots=True)
class _Listing(Sequence[Named]):
    """Named documents that are read one by one: of thousands, a block shows a few."""

    paths: Sequence[str]
    gists: Mapping[str, Gist]
    counted: Mapping[str, Gist]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.paths)

    @overload
    def __getitem__(self, at: int) -> Named: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Named]: ...
    def __getitem__(self, at: int | slice) -> Named | Sequence[Named]:
        """Return one, or some."""
        if isinstance(at, slice):
            return _Listing(self.paths[at], self.gists, self.counted)
        path = self.paths[at]
        known = self.counted.get(path) or self.gists[path]
        return Named(path, known[0])


def view_of(
    identity: str,
    revision: str,
    gists: Mapping[str, Gist],
    bank: str = "",
    *,
    decisions: bool = True,
) -> MemoryView:
    """Sort a revision's documents into what is shown how. Only `bank` shows of `projects/`.

    Without `decisions` the files of its decisions are listed like all others.
    """
    paths = sorted(gists)
    system, skills = _below(paths, "system/"), _below(paths, _SKILLS)
    projects = _below(paths, _PROJECTS)
    theirs = _below(projects, f"{_PROJECTS}{bank}/") if bank else []
    files = [f"{_PROJECTS}{bank}/{name}" for name in _DECISIONS] if bank and decisions else []
    shown = [path for path in files if path in gists]
    kept = {*system, *skills, *projects}
    theirs = [path for path in theirs if path not in shown]
    others = sorted([path for path in paths if path not in kept] + theirs)
    others, counted = _items_by_age(others, gists, bank)
    return MemoryView(
        identity,
        revision,
        tuple(Shown(path, *gists[path]) for path in system),
        _Listing(others, gists, counted),
        tuple(Skill(gists[path][1], gists[path][0], path) for path in skills),
        bank,
        tuple(Shown(path, *gists[path]) for path in shown),
    )


def _items_by_age(
    paths: list[str], gists: Mapping[str, Gist], bank: str
) -> tuple[list[str], dict[str, Gist]]:
    """Put the newest items of a project in the place of all, and lines that count the others."""
    learned, known = _below(paths, _EXPERIENCES), _below(paths, _FACTS)
    if not (learned or known):
        return paths, {}
    newest, counted = listing.facts(known, gists, bank)
    if learned:
        at = paths.index(learned[0])
        paths = [
            *paths[:at],
            *listing.experiences(learned, gists, bank),
            *paths[at + len(learned) :],
        ]
    if known:
        at = paths.index(known[0])
        paths = [*paths[:at], *newest, *counted, *paths[at + len(known) :]]
    return paths, counted


def _below(paths: list[str], folder: str) -> list[str]:
    """Return what of sorted paths lies in a folder."""
    after = folder[:-1] + chr(ord("/") + 1)
    return paths[bisect_left(paths, folder) : bisect_left(paths, after)]
