"""What a run of consolidation is given besides its prompt: the bank, its deltas, what is documented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BriefDelta:
    """A delta of the run: its id, and the entry in which a person said it ("" = by a command)."""

    id: int
    entry: str


@dataclass(frozen=True, slots=True)
class Brief:
    """`digest` is what the project's own instruction files say, in one text."""

    bank: str
    deltas: tuple[BriefDelta, ...]
    digest: str = ""

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of the deltas."""
        return tuple(delta.id for delta in self.deltas)


def read(fields: Mapping[str, Any] | None) -> Brief | None:
    """Read what a payload holds of a brief."""
    if fields is None:
        return None
    deltas = tuple(BriefDelta(**each) for each in fields["deltas"])
    return Brief(fields["bank"], deltas, fields["digest"])
