"""An item taken out of its chain: what it replaced goes with it, what followed keeps its own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reflector.memory.experiences.chains import Known, after, before
from reflector.memory.experiences.form import Stored, render

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_SHORTEST = 8
"""Bytes from which on a sentence tells something: "Done." is in everything."""


@dataclass(frozen=True, slots=True)
class Without:
    """What is left when an item is forgotten: paths that go, items that stay with less text."""

    gone: tuple[Stored, ...]
    changed: tuple[Stored, ...]

    @property
    def files(self) -> Mapping[str, bytes | None]:
        """Return the change, by path."""
        removed: dict[str, bytes | None] = {item.path: None for item in self.gone}
        return removed | {item.path: render(item) for item in self.changed}


def without(known: Known, which: str) -> Without:
    """Take an item out, all that it replaced, and every sentence that its followers took from these.

    A follower that has nothing of its own goes too, and so does what only led to one that went:
    nobody would be told any more that it does not hold.
    """
    target = known[which]
    gone = {item.id: item for item in (*before(known, which), target)}
    said = set(told(gone.values()))
    left = {item.id: _less(item, said) for item in after(known, which)}
    gone |= {one: known[one] for one, item in left.items() if not item.body.strip()}
    while more := {
        item.id: item
        for item in known.values()
        if item.superseded_by in gone and item.id not in gone
    }:
        gone |= more
    stay = (item for item in known.values() if item.id not in gone)
    changed = [now for item in stay if (now := _unlinked(left.get(item.id, item), gone)) != item]
    return Without(tuple(gone.values()), tuple(changed))


def _unlinked(item: Stored, gone: Mapping[str, Stored]) -> Stored:
    kept = tuple(one for one in item.supersedes if one not in gone)
    return item if kept == item.supersedes else replace(item, supersedes=kept)


def told(items: Iterable[Stored]) -> Iterator[str]:
    """Yield every line and sentence of items that tells something, as it is compared."""
    for item in items:
        texts = (item.title, item.body, item.details, item.boundary_envs, *item.search_keys)
        for line in "\n".join(texts).split("\n"):
            yield from filter(_tells, map(_folded, [line, *_SENTENCE.split(line)]))


def _less(item: Stored, said: set[str]) -> Stored:
    return replace(
        item,
        body=_kept(item.body, said),
        details=_kept(item.details, said),
        search_keys=tuple(key for key in item.search_keys if _folded(key) not in said),
    )


def only(text: str, said: Collection[str]) -> bool:
    """Tell whether a text tells something, and nothing but what is among what was told."""
    parts = (_folded(part) for line in text.split("\n") for part in _SENTENCE.split(line))
    tells = [part for part in parts if _tells(part)]
    return bool(tells) and all(part in said for part in tells)


def _kept(text: str, said: set[str]) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        parts = _SENTENCE.split(line)
        own = [part for part in parts if _folded(part) not in said]
        if len(own) == len(parts) and _folded(line) not in said:
            lines.append(line)
        elif any(map(str.strip, own)) and _folded(line) not in said:
            lines.append(" ".join(own).strip())
    return "\n".join(lines)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().lstrip("-*# ").rstrip()


def _tells(text: str) -> bool:
    return len(text.encode("utf-8", "replace")) >= _SHORTEST
