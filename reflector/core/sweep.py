"""Which leftovers may go: a decision over what was found, who lives, and how old things are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "worktree",
    "registration",
    "folder",
    "branch",
    "temporary",
    "lock",
    "ref",
    "stray_ref",
    "run_folder",
]

GRACE_SECONDS = 15 * 60
DAY = 24 * 60 * 60

RETENTION_DAYS: dict[Kind, int] = {"run_folder": 90, "ref": 14}
"""Kinds that are kept for a time on purpose; everything else goes once its run is over."""

ORDER: tuple[Kind, ...] = (
    "lock",  # first: git could remove nothing behind it
    "worktree",
    "folder",
    "registration",
    "branch",
    "temporary",
    "ref",
    "stray_ref",  # after what may have kept a tip under one
    "run_folder",
)


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that a run made. `age` in seconds, `run` "" when no run can be named.

    `needed` says that something still refers to it: a tip that waits to be merged or reviewed, a
    lock that a living git may hold.
    """

    kind: Kind
    target: str
    run: str
    age: float
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the sweep did with one leftover."""

    kind: Kind
    target: str
    removed: bool
    detail: str = ""

    def as_json(self) -> dict[str, str | bool]:
        """Return the public form."""
        return {
            "kind": self.kind,
            "target": self.target,
            "removed": self.removed,
            "detail": self.detail,
        }


def select(found: Iterable[Leftover], live: frozenset[str]) -> list[Leftover]:
    """Return what may go, in the order in which it must go. `live` are the ids of active runs.

    A live run's things are never touched, and nothing younger than the grace period is: whoever
    made it may be about to say so in the ledger. A registration whose folder is gone holds its
    branch for nothing and goes at once.
    """
    chosen = [each for each in found if _may_go(each, live)]
    return sorted(chosen, key=lambda each: (ORDER.index(each.kind), each.target))


def _may_go(each: Leftover, live: frozenset[str]) -> bool:
    if each.needed or (each.run and each.run in live):
        return False
    if each.kind == "registration":
        return True
    return each.age >= RETENTION_DAYS.get(each.kind, 0) * DAY + GRACE_SECONDS
