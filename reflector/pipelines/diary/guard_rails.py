"""What of the persona may change by itself: little, slowly, and never what a person wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Final, Literal

from reflector.core.days import since
from reflector.core.visible import visible
from reflector.memory.budget import estimate_tokens

MOST_A_DAY: Final = 2
FLIP_DAYS: Final = 7
SURE: Final = 0.9
MOST_TOKENS: Final = 250

_HEADING = re.compile(r"\s*#{1,6}\s")
_OPENS = re.compile(r"\s*<!--\s*anchor\b", re.IGNORECASE)
_MOST_LINE = 240
_KEPT_MOVES = 50

Why = Literal[
    "day", "locked", "flips", "unsure", "stale", "theirs", "again", "anchored", "full", "same"
]
"""Why a change was not made, in the order in which it is looked at."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One line of the persona that is to be another; `old` "" adds it. `dimension`: what it is about."""

    dimension: str
    kind: Literal["tone", "fact"]
    old: str
    new: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Move:
    """A change that was made by itself on a local day."""

    dimension: str
    old: str
    new: str
    day: str


@dataclass(frozen=True, slots=True)
class Past:
    """What was changed by itself so far, oldest first, and the dimensions that are locked."""

    moves: tuple[Move, ...] = ()
    locked: frozenset[str] = frozenset()

    def as_json(self) -> dict[str, Any]:
        """Return the form that is kept."""
        return {"moves": [asdict(one) for one in self.moves], "locked": sorted(self.locked)}


@dataclass(frozen=True, slots=True)
class Judged:
    """What comes of a proposal: the persona after it, or why it stays as it is."""

    persona: str
    past: Past
    why: Why | None = None


def past(fields: Mapping[str, Any]) -> Past:
    """Read what `Past.as_json` wrote; what cannot be read is left out."""
    listed, locked = fields.get("moves"), fields.get("locked")
    moves = [_move(each) for each in (listed if isinstance(listed, list) else [])]
    words = [each for each in (locked if isinstance(locked, list) else []) if isinstance(each, str)]
    return Past(tuple(one for one in moves if one), frozenset(words))


def _move(value: object) -> Move | None:
    if not isinstance(value, Mapping):
        return None
    texts = [value.get(name) for name in ("dimension", "old", "new", "day")]
    return Move(*map(str, texts)) if all(isinstance(each, str) for each in texts) else None


def proposals(value: object) -> tuple[Proposal, ...]:
    """Read the proposals of an answer; what is no whole one is left out."""
    found = map(_proposal, value if isinstance(value, list) else [])
    return tuple(one for one in found if one)


def _proposal(value: object) -> Proposal | None:
    if not isinstance(value, Mapping):
        return None
    dimension, old, new = (_line(value.get(name)) for name in ("dimension", "old", "new"))
    if (value.get("old") and not old) or "<!--" in new:
        return None
    new = new.lstrip(" -*#")  # a line of text: neither a heading nor a bullet of a bullet
    confidence = value.get("confidence")
    sure = isinstance(confidence, int | float) and 0 <= confidence <= 1
    if not (dimension and new and sure):
        return None
    kind: Literal["tone", "fact"] = "tone" if value.get("kind") == "tone" else "fact"
    return Proposal(dimension.casefold(), kind, old, new, float(confidence or 0))


def _line(value: object) -> str:
    whole = value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
    found = " ".join(visible(whole).split())
    return found if len(found) <= _MOST_LINE else ""


def judged(
    persona: str,
    one: Proposal,
    before: Past,
    today: date,
    shipped: str,
    may_change: Callable[[str, str], object | None],
) -> Judged:
    """Judge one proposal against the persona as it is now.

    Only lines that we shipped or wrote ourselves may change: every other one is a person's. A line
    of ours that is gone was taken out by a person or an undo, and does not come back. `may_change`
    says what is wrong with another text of the whole: anchors, headings.
    """
    why = _refused(persona, one, before, today, shipped)
    if why == "flips":
        return Judged(persona, replace(before, locked=before.locked | {one.dimension}), why)
    if why is not None:
        return Judged(persona, before, why)
    after = with_line(persona, one.old, one.new)
    if may_change(persona, after) is not None:
        return Judged(persona, before, "anchored")
    if estimate_tokens(after) > max(MOST_TOKENS, estimate_tokens(persona)):
        return Judged(persona, before, "full")
    move = Move(one.dimension, one.old, one.new, today.isoformat())
    return Judged(after, replace(before, moves=(*before.moves, move)[-_KEPT_MOVES:]))


def _refused(persona: str, one: Proposal, before: Past, today: date, shipped: str) -> Why | None:
    written = {bare(move.new) for move in before.moves}
    there = {bare(line) for line in persona.splitlines()}
    ours = written | {bare(line) for line in shipped.splitlines()}
    old, new = bare(one.old), bare(one.new)
    today_made = sum(move.day == today.isoformat() for move in before.moves)
    reasons: tuple[tuple[Why, bool], ...] = (
        ("same", old == new),
        ("day", today_made >= MOST_A_DAY),
        ("locked", one.dimension in before.locked),
        ("flips", _flips(one, before.moves, today)),
        ("unsure", one.kind == "fact" and one.confidence < SURE),
        ("stale", bool(old) and old not in there),
        ("theirs", bool(old) and old not in ours),
        ("again", new in written - there),
    )
    return next((why for why, holds in reasons if holds), None)


def _flips(one: Proposal, moves: Sequence[Move], today: date) -> bool:
    return any(
        move.dimension == one.dimension
        and bare(move.old) == bare(one.new)  # what was added has no line to go back to
        and (ago := since(move.day, today)) is not None
        and ago <= FLIP_DAYS
        for move in moves
    )


def with_line(persona: str, old: str, new: str) -> str:
    """Return a persona in which another line stands in the place of one; its bullet stays.

    `old` "" adds the line in front of the first heading, where one says what one is like.
    """
    lines = persona.split("\n")
    if not bare(old):
        return _added(lines, new)
    for at, line in enumerate(lines):
        if bare(line) == bare(old) and bare(line):
            lead = line[: len(line) - len(line.lstrip(" -*"))]
            lines[at] = lead + new
            break
    return "\n".join(lines)


def _added(lines: Sequence[str], new: str) -> str:
    at = next((at for at, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    while at and (not lines[at - 1].strip() or _OPENS.match(lines[at - 1])):
        at -= 1
    rest = lines[at:] if at < len(lines) else [""]
    gap = [] if rest and not rest[0].strip() else [""]
    return "\n".join((*lines[:at], *([""] if at else []), new, *gap, *rest))


def undone(persona: str, old: str, new: str) -> str:
    """Return a persona with the old line where the new one still stands; without one, without it."""
    if bare(old):
        return with_line(persona, new, old)
    kept = [line for line in persona.split("\n") if bare(line) != bare(new)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept))


def bare(line: str) -> str:
    """Return a line without its bullet and its blanks, to compare it."""
    return " ".join(line.strip().lstrip("-*").split())
