"""The compiled block: what an agent is shown of its memory, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reflector.core.errors import UsageError
from reflector.core.sentinel import closing, opening
from reflector.memory import rooms, shares
from reflector.memory.budget import Limits, estimate_tokens, settled
from reflector.memory.decided import decided
from reflector.memory.entries import FIRST, Part, parts_of, plain
from reflector.memory.fitted import Fitted
from reflector.memory.sections import Gathered, Section, element, gather, joined, section
from reflector.memory.shares import SHARES, Share
from reflector.memory.short_memory import Given, ShortMemory
from reflector.memory.view import MemoryView

MINIMUM_TOKENS = 200
PREVIEW_CHARS = 2000

_FRAME = "frame"
_SHORT = "short_memory"
_NO_SHORT_MEMORY = ShortMemory()
_BEFORE = ("self", "memory", "decisions")
"""What comes before a section that lays itself out."""
_LONGEST_PATH = 200
_TROUBLES_PART = 5
_IN_SHORT = "[a MEMORY.md is not shown; why: reflector short-memory check]\n"


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """The caller's words and limits.

    `read_more` is a command that holds `PATH` once, as notes name it. `fitted` and `later` are
    sections of other pipelines: they come behind the memory's own documents, with the share of
    their name.
    """

    preface: Sequence[str]
    read_more: str = "memory cat PATH"
    budget_tokens: int = 2000
    max_chars: int = 8000
    short: ShortMemory = _NO_SHORT_MEMORY
    shares: Mapping[str, Share] = field(default_factory=lambda: SHARES)
    later: Sequence[Part] = ()
    fitted: Fitted | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A compiled block. `volatile` bounds what of `text` tells of short memory, in characters."""

    text: str
    tokens: int
    sections: tuple[Section, ...]
    volatile: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Admitted:
    """The short memory that is shown, and lines about what is not. All of them end their line."""

    text: str = ""
    tokens: int = 0
    about: str = ""
    omitted: int = 0


def compile_block(view: MemoryView, options: BlockOptions) -> Block:
    """Compile the block. It keeps both limits; the frame is never cut, short memory never in parts.

    Raises UsageError when the limits are below the minimum or too small for the frame.
    """
    limits = Limits(options.budget_tokens, options.max_chars)
    top, bottom = _frame(view, options)
    room = limits.total - limits.cost(top) - limits.cost(bottom)
    own = _own(options, limits, room)
    room -= own.frame(limits) if own else 0
    if options.budget_tokens < MINIMUM_TOKENS or room < 0:
        raise UsageError(
            f"A block of {options.budget_tokens} tokens and {options.max_chars} characters is too"
            " small for its frame.",
            hint=f"Allow at least {max(MINIMUM_TOKENS, estimate_tokens(top + bottom))} tokens.",
        )
    short = _admitted(options.short, limits, room)
    room -= limits.cost(short.text) + limits.cost(short.about)
    head = top + short.text + short.about
    tier, rest = parts_of(view)
    parts = [
        gather(each, rooms.most(each.name, limits.total, options.shares), limits)
        for each in (*tier, decided(view), *options.later, *rest)
        if each.count
    ]

    longest = limits.cost(_metadata(view, sum(each.part.count for each in parts)))
    before = sum(each.part.name in _BEFORE for each in parts)

    def assemble(left: int) -> tuple[str, tuple[Section, ...]]:
        # At the smallest budgets there is no room for what only tells of the memory.
        told = longest < left
        given = left - longest if told else left
        texts, sections = _sections(parts, (before, own), given, limits, options)
        about = _metadata(view, sum(each.omitted for each in sections)) if told else ""
        return "".join((head, *_vital_first(texts, len(head)), about, bottom)), sections

    text, sections = settled(assemble, room, limits)
    share = limits.tokens * shares.FRAME // 100
    frame = Section(_FRAME, estimate_tokens(top + short.about + bottom), 0, share, 0)
    return Block(
        text,
        estimate_tokens(text),
        (frame, *_short_section(short, options, limits), *sections),
        (len(top) - len(joined(_policy(options))), len(head)),
    )


def _frame(view: MemoryView, options: BlockOptions) -> tuple[str, str]:
    lines = (opening(view.identity, view.revision), *options.preface, *_policy(options))
    return joined(lines), closing(view.identity)


def _policy(options: BlockOptions) -> tuple[str, ...]:
    return (options.short.policy.rstrip("\n"),) if options.short.policy else ()


def _admitted(short: ShortMemory, limits: Limits, room: int) -> _Admitted:
    """Choose the files that are shown: whole ones only, the project's before the user's."""
    about = _troubles(short, limits, room)
    share = min(limits.total * shares.SHORT_MEMORY // 100, room - limits.cost(about))
    chosen: list[Given] = []
    for each in sorted(short.given, key=lambda one: one.scope != "project"):
        if limits.cost(each.text) <= share:
            share -= limits.cost(each.text)
            chosen.append(each)
    text = "".join(each.text for each in short.given if each in chosen)
    left_out = [each for each in short.given if each not in chosen]
    for each in left_out:
        name = (
            plain(each.path) if len(each.path) <= _LONGEST_PATH else f"The {each.scope} MEMORY.md"
        )
        line = f"[{name} does not fit here; read that file as it is]\n"
        if limits.cost(line) <= room - limits.cost(text) - limits.cost(about):
            about += line
    return _Admitted(text, estimate_tokens(text), about, len(left_out))


def _troubles(short: ShortMemory, limits: Limits, room: int) -> str:
    """Return what is said of faulty files: in full, or in short where that would take too much."""
    most = min(room, limits.total // _TROUBLES_PART)
    forms = (joined(short.troubles), _IN_SHORT if short.troubles else "")
    return next((text for text in forms if limits.cost(text) <= most), "")


def _short_section(short: _Admitted, options: BlockOptions, limits: Limits) -> tuple[Section, ...]:
    if not options.short.given:
        return ()
    most = limits.tokens * shares.SHORT_MEMORY // 100
    return (Section(_SHORT, short.tokens, 0, most, short.omitted),)


def _own(options: BlockOptions, limits: Limits, room: int) -> Fitted | None:
    """Return the section that lays itself out; none where not even its frame has room."""
    own = options.fitted
    return own if own and own.frame(limits) <= room else None


def _sections(
    parts: Sequence[Gathered],
    placed: tuple[int, Fitted | None],
    left: int,
    limits: Limits,
    options: BlockOptions,
) -> tuple[list[tuple[str, str]], tuple[Section, ...]]:
    """Lay all sections out; `placed` is the one that does so itself, and behind how many it comes."""
    before, own = placed
    sizes = {each.part.name: each.size for each in parts}
    if own:
        most = rooms.most(own.name, limits.total, options.shares)
        sizes[own.name] = own.size(most, limits)
    given = rooms.rooms(sizes, left, limits.total, options.shares)
    laid = [
        (each.part.name, *section(each, given[each.part.name], limits, options.read_more))
        for each in parts
    ]
    if own:
        fit = own.within(given[own.name], limits)
        laid.insert(before, (own.name, fit.text, fit.omitted))
    sections = (_about(name, text, omitted, limits, options) for name, text, omitted in laid)
    return [(name, text) for name, text, _ in laid], tuple(sections)


def _about(name: str, text: str, omitted: int, limits: Limits, options: BlockOptions) -> Section:
    share = options.shares.get(name)
    floor, ceiling = (share.floor, share.ceiling) if share else (0, 0)
    least, most = (limits.tokens * percent // 100 for percent in (floor, ceiling))
    return Section(name, estimate_tokens(text), least, most, omitted)


def _vital_first(texts: Sequence[tuple[str, str]], before: int) -> list[str]:
    """Put the memory before the persona where a host's preview would end in front of it (F117)."""
    own = dict(texts).get("self", "")
    memory = dict(texts).get("memory", "")
    vital = _vital(memory)
    if vital and before + len(own) + vital > PREVIEW_CHARS:
        ahead = {"memory": 0, "self": 1}
        texts = sorted(texts, key=lambda one: ahead.get(one[0], 2))
    return [text for _, text in texts]


def _vital(memory: str) -> int:
    """Return where the top of what is known about the person ends, 0 when there is none."""
    start = max(memory.find(f"<projection>{path}</projection>\n") for path in FIRST)
    return start + len(joined(memory[start:].split("\n", 3)[:3])) if start >= 0 else 0


def _metadata(view: MemoryView, omitted: int) -> str:
    documents = sum(map(len, (view.system, view.decisions, view.others, view.skills)))
    bank = f"; project: {plain(view.bank)}" if view.bank else ""
    line = f"revision: {view.revision}{bank}; documents: {documents}; not shown whole: {omitted}"
    return element("memory_metadata", [line])
