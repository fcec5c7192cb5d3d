"""One section of the block within its room: whole documents as far as they go, none starved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from reflector.memory.budget import Limits
from reflector.memory.entries import Entry, Part, folder_line, plain

_TASTE = 60
_PATH = "PATH"


@dataclass(frozen=True, slots=True)
class Gathered:
    """A part with as many of its entries as could possibly be shown, and their cost as a section."""

    part: Part
    entries: tuple[Entry, ...]
    size: int

    @property
    def complete(self) -> bool:
        """Whether these are all there are."""
        return len(self.entries) == self.part.count


@dataclass(frozen=True, slots=True)
class Section:
    """What became of one section, in tokens. `omitted` counts documents left out or cut."""

    name: str
    tokens: int
    floor: int
    ceiling: int
    omitted: int


def gather(part: Part, most: int, limits: Limits) -> Gathered:
    """Take entries until their least costs more than the section may: the rest has no chance."""
    left = [most]

    def affordable(entry: Entry) -> bool:
        least = entry.small or (*entry.head, *entry.tail)
        before, left[0] = left[0], left[0] - limits.cost(joined(least))
        return before > 0

    entries = tuple(takewhile(affordable, part.entries))
    size = limits.cost(element(part.name, _nested(part, [(each, each.lines) for each in entries])))
    return Gathered(part, entries, size)


def section(found: Gathered, room: int, limits: Limits, read_more: str) -> tuple[str, int]:
    """Render as much as the room holds; return the text and how many documents are not whole."""
    part, entries = found.part, found.entries
    if found.complete and found.size <= room:
        return element(part.name, _nested(part, [(one, one.lines) for one in entries])), 0
    left = room - limits.cost(element(part.name, [*part.preface, _note(part.count)]))
    if left < 0:
        return "", part.count
    kept: list[tuple[Entry, Sequence[str]]] = []
    complete = 0
    folders: set[str] = set()
    for index, one in enumerate(entries):
        shell = _shell(part, one, folders, limits)
        small = shell + limits.cost(joined((*one.head, *one.tail))) + limits.cost_of_tokens(_TASTE)
        # The first are the most vital, so they come at all; none takes what others need (F118).
        own = max(left // (len(entries) - index), min(left, small))
        lines = _fit(one, own - shell, limits, read_more)
        if not lines:
            continue
        left -= shell + limits.cost(joined(lines))
        folders.add(one.folder)
        kept.append((one, lines))
        complete += lines == one.lines
    omitted = part.count - complete
    return element(part.name, [*_nested(part, kept), _note(omitted)]), omitted


def whole(part: Part) -> str:
    """Render a section with everything in it, "" when there is nothing."""
    entries = [(each, each.lines) for each in part.entries]
    return element(part.name, _nested(part, entries)) if entries else ""


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text that ends with a line end, "" for none."""
    return "".join(line + "\n" for line in lines)


def element(name: str, inner: Iterable[str]) -> str:
    """Put lines into an element of their own."""
    return f"<{name}>\n{joined(inner)}</{name}>\n"


def _shell(part: Part, one: Entry, folders: set[str], limits: Limits) -> int:
    if not one.folder or one.folder in folders:
        return 0
    return limits.cost(joined(folder_line(one.folder, nested=part.nested)))


def _fit(one: Entry, room: int, limits: Limits, read_more: str) -> tuple[str, ...]:
    """Return the lines of an entry that fit, whole ones as far as they go; none if it cannot."""
    if limits.cost(joined(one.lines)) <= room:
        return one.lines
    if one.small and limits.cost(joined(one.small)) <= room:
        return one.small
    note = f"[cut here; the whole: {read_more.replace(_PATH, plain(one.path))}]"
    left = room - limits.cost(joined((*one.head, note, *one.tail)))
    if left < 0 or not one.body:
        return ()
    kept = _kept(one.body, left, limits)
    if one.by_line:
        while kept and kept[-1].startswith("#"):
            kept.pop()
        return (*one.head, *kept, note, *one.tail) if kept else ()
    if not any(line.strip() for line in kept):
        kept = [_prefix(next(line for line in one.body if line.strip()), left, limits)]
    return (*one.head, *kept, note, *one.tail)


def _kept(body: Iterable[str], room: int, limits: Limits) -> list[str]:
    """Return the first lines that fit."""
    kept: list[str] = []
    for line in body:
        room -= limits.cost(line + "\n")
        if room < 0:
            break
        kept.append(line)
    return kept


def _prefix(line: str, room: int, limits: Limits) -> str:
    """Cut a line that is too long by itself at a blank, so that a long paragraph shows its start."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        fits = limits.cost(line[:middle] + "…\n") <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    shown = line[:low]
    return (shown[: shown.rfind(" ")] if " " in shown else shown).rstrip() + "…" if low else ""


def _note(omitted: int) -> str:
    return f"[{omitted} not shown whole]"


def _nested(part: Part, kept: Sequence[tuple[Entry, Sequence[str]]]) -> list[str]:
    """Lay entries out folder by folder, those on top first; within a folder the order stays."""
    inside: dict[str, list[str]] = {}
    for one, own in kept:
        inside.setdefault(one.folder, []).extend(own)
    lines = [*part.preface, *inside.pop("", [])]
    for folder in sorted(inside) if not part.nested else inside:
        shell = folder_line(folder, nested=part.nested)
        lines += [*shell[:1], *inside[folder], *shell[1:]]
    return lines
