"""The diary in one file, for whoever must be quick: derived, true for one HEAD, and gone when burned."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from reflector.core.diary import Diary, Entry, Mood, Term, Tombstone, Trait
from reflector.core.errors import ReflectorError
from reflector.store.disk import read_regular, write_atomic

NAME = "diary.copy"

_LARGEST = 1 << 28
_LEFT_OUT = ("parts", "counts")
"""What only a merge asks for: whoever changes the diary reads the diary itself."""

_TAGS = [each.name for each in fields(Entry)].index("tags")


def save(agent: Path, head: str, diary: Diary) -> None:
    """Write the copy; one that cannot be written is none."""
    told = {
        "form": _form(),
        "head": head,
        "entries": _rows(Entry, diary.entries.values()),
        "traits": _rows(Trait, diary.traits.values()),
        "lexicon": dict(zip(diary.lexicon, _rows(Term, diary.lexicon.values()), strict=True)),
        "tombstones": _rows(Tombstone, diary.tombstones.values()),
        "mood": [diary.mood.value, diary.mood.day],
        "rest": [diary.persona, list(diary.notes), list(diary.damaged), diary.replica],
    }
    raw = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        write_atomic(agent / NAME, raw)
    except ReflectorError:
        return


def read(agent: Path, head: str) -> Diary | None:
    """Return the diary if the copy is of this HEAD, without what only merges need."""
    try:
        raw = read_regular(agent / NAME, _LARGEST)
        told = json.loads(raw) if raw else {}
        if told.get("form") != _form() or told.get("head") != head:
            return None
        return _diary(told)
    except (ReflectorError, ValueError, TypeError, LookupError, AttributeError):
        return None  # damaged: it is written anew


def _diary(told: dict[str, Any]) -> Diary:
    persona, notes, damaged, replica = told["rest"]
    for row in told["entries"]:
        row[_TAGS] = tuple(row[_TAGS])
    return Diary(
        entries={each.id: each for each in (Entry(*row) for row in told["entries"])},
        traits={each.id: each for each in (Trait(*row) for row in told["traits"])},
        lexicon={key: Term(*row) for key, row in told["lexicon"].items()},
        tombstones={each.id: each for each in (Tombstone(*row) for row in told["tombstones"])},
        persona=persona,
        notes=tuple(notes),
        mood=Mood(*told["mood"]),
        damaged=tuple(damaged),
        replica=replica,
    )


def _form() -> list[list[str]]:
    """Return what rows hold: a copy by another version of the program is none."""
    return [list(_names(kind)) for kind in (Entry, Trait, Term, Tombstone)]


def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.name not in _LEFT_OUT)


def _rows(kind: type[Any], records: Iterable[object]) -> list[list[object]]:
    names = _names(kind)
    return [[getattr(each, name) for name in names] for each in records]
