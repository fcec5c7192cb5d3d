"""Experiences and facts for tests: made, read into a tree, and written step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from reflector.memory.experiences.form import Layer, Stored, parse, path_for, render
from reflector.memory.tree import Tree
from reflector.pipelines.experiences.drafts import Draft
from reflector.pipelines.experiences.reconciling import Action, Choice, Decided
from reflector.pipelines.experiences.writing import Edits, Host, edits

NOON = "2026-11-30T12:00:00.000Z"
BANK = "shop-0a1b2c3d"


def stored(number: int, layer: Layer = "experience", **values: Any) -> Stored:
    """Return an item with an id of its number."""
    which = f"{number:08x}"
    title = values.pop("title", f"rotate log {number}")
    created = values.pop("created", NOON)
    made = Stored(layer, which, path_for(layer, title, which, created), title, "x", created)
    given = {"body": f"Use tail -F on file {number}.", "project": BANK} | values
    return replace(made, **given)


def linked(*items: Stored) -> dict[str, Stored]:
    """Return items by id, each replaced by the one after it."""
    found = list(items)
    for at in range(1, len(found)):
        found[at] = replace(found[at], supersedes=(found[at - 1].id,))
        found[at - 1] = replace(found[at - 1], status="superseded", superseded_by=found[at].id)
    return {one.id: one for one in found}


def tree_of(*items: Stored) -> Tree:
    """Return a memory that holds them."""
    return Tree.of({one.path: render(one) for one in items})


def draft(text: str, layer: Layer = "experience", **values: Any) -> Draft:
    """Return a draft with the key of the only one of its layer."""
    title = values.pop("title", "rotate a log")
    return Draft("e1" if layer == "experience" else "f1", layer, title, text, **values)


class Memory:
    """A memory that grows by what is decided about drafts, one commit after the other."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ids: Iterator[int] = count(1)
        self.hours = count(0)
        self._read: dict[str, tuple[bytes, Stored]] = {}

    @property
    def known(self) -> dict[str, Stored]:
        for path, raw in self.files.items():
            if path not in self._read or self._read[path][0] != raw:
                self._read[path] = raw, parse(path, raw)
        return {self._read[path][1].id: self._read[path][1] for path in sorted(self.files)}

    @property
    def active(self) -> list[Stored]:
        return [one for one in self.known.values() if one.status == "active"]

    def takes(self, one: Draft, action: Action = Action.ADD, *targets: str, **host: Any) -> Edits:
        """Carry out what was decided about one draft."""
        now = f"2026-11-30T{next(self.hours) % 24:02d}:00:00.000Z"
        given = Host(lambda: f"{next(self.ids):08x}", BANK, "main", now, **host)
        choice = Choice(one.key, action, targets)
        done = edits(Decided((choice,)), (one,), self.known, given)
        for path, raw in done.files.items():
            if raw is None:
                del self.files[path]
            else:
                self.files[path] = raw
        return done
