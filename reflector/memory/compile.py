"""The compiled block: what an agent is shown of its memory, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reflector.core.errors import UsageError
from reflector.core.sentinel import attribute, closing, escape, opening
from reflector.memory.budget import Claim, Limits, allot, estimate_tokens

MINIMUM_TOKENS = 200
PERSONA = "system/persona.md"
FIRST = ("system/boundaries.md", "system/human.md")

_LINE = 200
_TASTE = 60


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
    """What the block is compiled from: one revision of one identity's memory."""

    identity: str
    revision: str
    system: Sequence[Shown] = ()
    others: Sequence[Named] = ()
    skills: Sequence[Skill] = ()


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """The caller's words and limits. `read_more` is a command that holds `PATH` once."""

    preface: Sequence[str]
    read_more: str
    budget_tokens: int = 2000
    max_chars: int = 8000


@dataclass(frozen=True, slots=True)
class Section:
    """What became of one section, in tokens. `omitted` counts documents left out or cut."""

    name: str
    tokens: int
    floor: int
    ceiling: int
    omitted: int


@dataclass(frozen=True, slots=True)
class Block:
    """A compiled block."""

    text: str
    tokens: int
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class _Share:
    """A section's part of what the frame leaves, in percent, and its weight."""

    floor: int
    ceiling: int
    weight: int


# Floors add up to less than all, so that every section keeps its own.
_SHARES = {
    "self": _Share(15, 40, 3),
    "memory": _Share(35, 75, 5),
    "external_projection": _Share(12, 50, 2),
    "skills": _Share(10, 40, 2),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    """Lines that are shown, then as many of `body` as fit, then lines that are shown again."""

    path: str
    head: tuple[str, ...]
    body: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    folder: str = ""


def compile_block(tree: MemoryView, options: BlockOptions) -> Block:
    """Compile the block. It keeps both limits; the frame and the metadata are never cut.

    Raises UsageError when the limits are below the minimum or too small for the frame.
    """
    limits = Limits(options.budget_tokens, options.max_chars)
    top = "\n".join((opening(tree.identity, tree.revision), *options.preface, ""))
    bottom = _metadata(tree, omitted=_most(tree)) + closing(tree.identity)
    room = limits.total - limits.cost(top) - limits.cost(bottom)
    if options.budget_tokens < MINIMUM_TOKENS or room < 0:
        raise UsageError(
            f"A block of {options.budget_tokens} tokens and {options.max_chars} characters is too"
            " small for its frame.",
            hint=f"Allow at least {MINIMUM_TOKENS} tokens.",
        )
    entries = {name: found for name, found in _entries(tree).items() if found}
    rooms = _rooms(entries, room, limits)
    parts: list[str] = []
    sections: list[Section] = []
    for name, found in entries.items():
        text, omitted = _section(name, found, rooms[name], limits, options.read_more)
        parts.append(text)
        floor = limits.tokens_of(room * _SHARES[name].floor // 100)
        ceiling = limits.tokens_of(room * _SHARES[name].ceiling // 100)
        sections.append(Section(name, estimate_tokens(text), floor, ceiling, omitted))
    bottom = _metadata(tree, sum(one.omitted for one in sections)) + closing(tree.identity)
    text = "".join((top, *parts, bottom))
    return Block(text, estimate_tokens(text), tuple(sections))


def _entries(tree: MemoryView) -> dict[str, tuple[_Entry, ...]]:
    shown = [one for one in tree.system if one.body.strip()]
    persona = tuple(_document(one, plain=True) for one in shown if one.path == PERSONA)
    system = sorted((one for one in shown if one.path != PERSONA), key=_order)
    return {
        "self": persona,
        "memory": tuple(_document(one) for one in system),
        "external_projection": tuple(
            _Entry(one.path, (_listed(_name(one.path), one.description),), folder=_folder(one.path))
            for one in sorted(tree.others, key=lambda one: (_folder(one.path), one.path))
        ),
        "skills": tuple(
            _Entry(one.path, (_listed(one.name, one.description),))
            for one in sorted(tree.skills, key=lambda one: one.name)
        ),
    }


def _order(one: Shown) -> tuple[int, str, str]:
    first = FIRST.index(one.path) if one.path in FIRST else len(FIRST)
    folder = _folder(one.path)
    return first, "" if folder == "system/" else folder, one.path


def _document(one: Shown, *, plain: bool = False) -> _Entry:
    body = tuple(escape(one.body.strip("\n")).split("\n"))
    facts = [f"<projection>{escape(_one_line(one.path))}</projection>"]
    if one.description:
        facts.append(f"<description>{escape(_short(one.description))}</description>")
    if plain:
        return _Entry(one.path, tuple(facts), body)
    inside = _folder(one.path).removeprefix("system/")
    return _Entry(one.path, ("<document>", *facts), body, ("</document>",), inside)


def _listed(name: str, description: str) -> str:
    text = f"- {_short(name)}" + (f": {_short(description)}" if description else "")
    return escape(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    line = _one_line(text)
    return line if len(line) <= _LINE else line[: _LINE - 1].rstrip() + "…"


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _rooms(entries: Mapping[str, Sequence[_Entry]], room: int, limits: Limits) -> dict[str, int]:
    claims = [
        Claim(
            size=limits.cost(_element(name, _nested(name, [(one, _lines(one)) for one in found]))),
            floor=room * _SHARES[name].floor // 100,
            ceiling=room * _SHARES[name].ceiling // 100,
            weight=_SHARES[name].weight,
        )
        for name, found in entries.items()
    ]
    return dict(zip(entries, allot(claims, room), strict=True))


def _section(
    name: str, found: Sequence[_Entry], room: int, limits: Limits, read_more: str
) -> tuple[str, int]:
    """Render as much of a section as its room holds; return the text and what is not whole."""
    whole = _element(name, _nested(name, [(one, _lines(one)) for one in found]))
    if limits.cost(whole) <= room:
        return whole, 0
    left = room - limits.cost(_element(name, [_note(len(found), read_more)]))
    if left < 0:
        return "", len(found)
    kept: list[tuple[_Entry, Sequence[str]]] = []
    complete = 0
    for index, one in enumerate(found):
        shell = limits.cost(_joined(_wrapping(name, one, kept)))
        small = shell + limits.cost(_joined((*one.head, *one.tail))) + limits.cost_of_tokens(_TASTE)
        # The first are the most vital, so they come at all; none takes what others need (F118).
        own = max(left // (len(found) - index), min(left, small))
        lines = _fit(one, own - shell, limits, read_more)
        if not lines:
            continue
        left -= shell + limits.cost(_joined(lines))
        kept.append((one, lines))
        complete += lines == _lines(one)
    omitted = len(found) - complete
    return _element(name, [*_nested(name, kept), _note(omitted, read_more)]), omitted


def _fit(one: _Entry, room: int, limits: Limits, read_more: str) -> tuple[str, ...]:
    """Return the lines of an entry that fit, whole ones as far as they go; none if it cannot."""
    if limits.cost(_joined(_lines(one))) <= room:
        return _lines(one)
    note = f"[cut here; the whole: {escape(read_more.replace('PATH', _one_line(one.path)))}]"
    left = room - limits.cost(_joined((*one.head, note, *one.tail)))
    if left < 0 or not one.body:
        return ()
    kept: list[str] = []
    for line in one.body:
        cost = limits.cost(line + "\n")
        if cost > left:
            break
        left -= cost
        kept.append(line)
    if not any(line.strip() for line in kept):
        kept = [_prefix(next(line for line in one.body if line.strip()), left, limits)]
    return (*one.head, *kept, note, *one.tail)


def _prefix(line: str, room: int, limits: Limits) -> str:
    """Cut a line that is too long by itself at a blank, so that a long paragraph shows its start."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        fits = limits.cost(line[:middle] + "…\n") <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    shown = line[:low]
    return (shown[: shown.rfind(" ")] if " " in shown else shown).rstrip() + "…" if low else ""


def _lines(one: _Entry) -> tuple[str, ...]:
    return (*one.head, *one.body, *one.tail)


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _element(name: str, inner: Iterable[str]) -> str:
    return f"<{name}>\n{_joined(inner)}</{name}>\n"


def _note(omitted: int, read_more: str) -> str:
    return f"[{omitted} not shown whole; to read one: {escape(read_more)}]"


def _wrapping(
    name: str, one: _Entry, before: Sequence[tuple[_Entry, Sequence[str]]]
) -> tuple[str, ...]:
    """Return the lines that put an entry into its folder, none if it is already open."""
    if not one.folder or (before and before[-1][0].folder == one.folder):
        return ()
    if name == "memory":
        return (f'<folder path="{attribute("system/" + one.folder)}">', "</folder>")
    return (escape(_one_line(one.folder)),)


def _nested(name: str, kept: Sequence[tuple[_Entry, Sequence[str]]]) -> list[str]:
    lines: list[str] = []
    pending: tuple[str, ...] = ()
    for index, (one, own) in enumerate(kept):
        shell = _wrapping(name, one, kept[max(0, index - 1) : index])
        if shell or not one.folder:
            lines += pending
            pending = shell[1:]
            lines += shell[:1]
        lines += own
    return [*lines, *pending]


def _metadata(tree: MemoryView, omitted: int) -> str:
    documents = len(tree.system) + len(tree.others)
    return _element(
        "memory_metadata",
        [f"revision: {tree.revision}; documents: {documents}; not shown whole: {omitted}"],
    )


def _most(tree: MemoryView) -> int:
    return len(tree.system) + len(tree.others) + len(tree.skills)
