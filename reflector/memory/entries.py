"""A memory's documents as the lines of a block: without secrets, and unable to pass for markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from reflector.core.ellipsis import shortened
from reflector.core.redact import find_secrets, redact_record
from reflector.core.sentinel import attribute, escape

if TYPE_CHECKING:  # what it reads documents with costs a prompt's hook more than the search does
    from reflector.memory.view import MemoryView, Named, Shown, Skill

SELF = ("system/persona.md", "system/identity.md")
FIRST = ("system/boundaries.md", "system/human.md")

_LINE = 200
_TOGETHER = 32
# Whoever prints a block on a terminal must not have it driven or reordered by a document.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Lines that are shown, then as many of `body` as fit, then lines that are shown again.

    `small` stands for the whole where there is no room for it. `folder` opens and closes around
    entries that lie in it; it is empty for those on top. With `by_line` no line of `body` is cut,
    and none that only heads others ends it.
    """

    path: str
    head: tuple[str, ...]
    body: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    folder: str = ""
    small: tuple[str, ...] = ()
    by_line: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the whole."""
        return (*self.head, *self.body, *self.tail)


@dataclass(frozen=True, slots=True)
class Part:
    """What one section could show, in the order of what is vital. `count` may be more than that.

    `nested` says how a folder is opened: as an element, or as a line of its own. `preface` stands
    above the entries, whatever is left of them.
    """

    name: str
    entries: Iterable[Entry]
    count: int
    nested: bool = False
    preface: tuple[str, ...] = ()


def parts_of(view: MemoryView) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the sections of the system tier and those of everything else."""
    shown = [one for one in view.system if one.body.strip()]
    own = sorted((one for one in shown if one.path in SELF), key=lambda one: SELF.index(one.path))
    rest = sorted((one for one in shown if one.path not in SELF), key=_order)
    skills = sorted(view.skills, key=lambda one: one.name)
    return (
        Part("self", [_document(one, within=False) for one in own], len(own)),
        Part("memory", [_document(one, within=True) for one in rest], len(rest), nested=True),
    ), (
        Part("external_projection", _listed(map(_named, _in_turns(view.others))), len(view.others)),
        Part("skills", _listed(map(_skill, skills)), len(view.skills)),
    )


def recalled(path: str, about: str, excerpt: str) -> Entry:
    """Return one document that a query recalled, with the passage that answers it."""
    (path_shown, about, excerpt), _ = redact_record((path, about, excerpt))
    small = f"- {plain(path_shown)}{': ' if about else ''}{_short(about)}"
    whole = f"{small}{' | ' if about else ': '}{plain(excerpt)}" if excerpt else small
    return Entry(path, (whole,), small=(small,))


def _folder_of(path: str) -> str:
    """Return the folder of a path with its slash, "" on top."""
    return path[: path.rfind("/") + 1]


def plain(text: str) -> str:
    """Make a text one line in which nothing is hidden, and which is no markup."""
    return escape(_showable(" ".join(text.split())))


@lru_cache(maxsize=1024)
def folder_line(folder: str, *, nested: bool) -> tuple[str, ...]:
    """Return the lines that open and close a folder."""
    (shown,), _ = redact_record((folder,))
    if nested:
        return (f'<folder path="{attribute(_showable(shown))}">', "</folder>")
    return (plain(shown),)


def _order(one: Shown) -> tuple[int, str, str]:
    first = FIRST.index(one.path) if one.path in FIRST else len(FIRST)
    folder = _folder_of(one.path)
    return first, "" if folder == "system/" else folder, one.path


def _document(one: Shown, *, within: bool) -> Entry:
    # The same record for all three: a secret in one of them is taken out of the others as well.
    (path, description, text), _ = redact_record((one.path, one.description, one.body))
    body = tuple(escape(_showable(text.strip("\n"))).split("\n"))
    facts = [f"<projection>{plain(path)}</projection>"]
    if description.strip():
        facts.append(f"<description>{_short(description)}</description>")
    if not within:
        return Entry(path, tuple(facts), body)
    folder = _folder_of(one.path)
    inside = "" if folder == "system/" else folder
    return Entry(path, ("<document>", *facts), body, ("</document>",), inside)


@dataclass(frozen=True, slots=True)
class _Line:
    """A document of which one line is shown."""

    path: str
    name: str
    description: str
    folder: str = ""


def _named(one: Named) -> _Line:
    folder = _folder_of(one.path)
    return _Line(one.path, one.path[len(folder) :], one.description, folder)


def _skill(one: Skill) -> _Line:
    return _Line(one.path, one.name, one.description)


def _listed(lines: Iterator[_Line]) -> Iterator[Entry]:
    while chunk := list(islice(lines, _TOGETHER)):
        # One look over many short texts costs little more than one over a single text.
        told = "\n".join(f"{one.name}\n{one.description}" for one in chunk)
        safe = not find_secrets(told)
        for one in chunk:
            both = (one.name, one.description)
            name, says = both if safe else redact_record(both)[0]
            small = f"- {_short(name)}"
            whole = f"{small}: {_short(says)}" if says.strip() else small
            yield Entry(one.path, (whole,), folder=one.folder, small=(small,))


def _in_turns(others: Sequence[Named]) -> Iterator[Named]:
    """Take from the parts of the memory in turns: a thousand facts do not hide one experience."""
    queues: dict[str, Sequence[Named]] = {}
    start = 0
    while start < len(others):
        top = _top(others[start])
        end = bisect_right(others, top, start, key=_top)
        queues[top] = others[start:end]
        start = end
    waiting = [iter(queues[name]) for name in sorted(queues, key=_rank)]
    while waiting:
        still = []
        for queue in waiting:
            if (one := next(queue, None)) is not None:
                yield one
                still.append(queue)
        waiting = still


def _top(one: Named) -> str:
    # As in the order of whole paths, in which `a/b` comes behind `a-b`.
    top, slash, _ = one.path.partition("/")
    return top + slash


def _rank(top: str) -> tuple[int, str]:
    known = ("projects/", "reference/", "experiences/", "facts/")
    return (known.index(top) if top in known else len(known)), top


def _short(text: str) -> str:
    return plain(shortened(" ".join(text.split()), _LINE))


def _showable(text: str) -> str:
    return _UNSHOWABLE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
