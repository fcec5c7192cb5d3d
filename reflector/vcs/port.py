"""What we ask of git, in our words: values only."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from reflector.core.errors import GitError

MAIN = "refs/heads/main"

WRITTEN = "Reflector-Write"
ADOPTED = "Reflector-Adopt"
"""The trailers that name a change which no run made; the id is made like a run's."""


class Operation(StrEnum):
    """Something of a person's that is in progress in a repository."""

    MERGE = "merge"
    REBASE = "rebase"
    CHERRY_PICK = "cherry-pick"
    REVERT = "revert"
    BISECT = "bisect"


IN_PROGRESS = {
    "MERGE_HEAD": Operation.MERGE,
    "rebase-merge": Operation.REBASE,
    "rebase-apply": Operation.REBASE,
    "CHERRY_PICK_HEAD": Operation.CHERRY_PICK,
    "REVERT_HEAD": Operation.REVERT,
    # A cherry-pick or revert of several commits between two of them has only this folder.
    "sequencer": Operation.CHERRY_PICK,
    "BISECT_LOG": Operation.BISECT,
}
"""What git keeps in a git dir during an operation."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where HEAD points. `branch` is None when detached, `sha` None before the first commit."""

    branch: str | None
    sha: str | None
    operation: Operation | None = None


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit: ids are full hexadecimal shas; `at` is RFC 3339 UTC."""

    sha: str
    parents: tuple[str, ...]
    tree: str
    message: str
    author: str
    at: str


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What a work tree holds that its HEAD does not. Paths are repository-relative, readable."""

    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether there is nothing at all."""
        return not (self.staged or self.unstaged or self.untracked)


@dataclass(frozen=True, slots=True)
class MergePlan:
    """A merge computed in memory. `tree` is None when `conflicts` is not empty."""

    tree: str | None
    conflicts: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Administration:
    """Everything of a repository's administration that a run must leave alone (ENGINE 9.3).

    `facts` maps a name (`config:core.bare`, `hooks/pre-commit`, `ref:refs/heads/x`, …) to a value
    that changes exactly when the meaning does.
    """

    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a commit is by."""

    name: str = "Reflector"
    email: str = "reflector@localhost"


_REF = re.compile(
    r"refs/(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|\Z)|\.(?:/|\Z)))[A-Za-z0-9_@+=.,-][A-Za-z0-9_@+=.,/-]*[A-Za-z0-9_@+=,-]\Z"
)


def ref_name(name: str) -> str:
    """Return a full ref name (`refs/…`) unchanged; raise `GitError` for anything git might misread.

    Stricter than git: only plain ASCII, since every ref that we write is named by us.
    """
    if not _REF.match(name):
        raise GitError(f"{name!r} is not a ref name that Reflector writes.", ref=name)
    return name


def trailers(message: str) -> tuple[str, ...]:
    """Return the lines of a message's last paragraph."""
    return tuple(message.rstrip("\n").rsplit("\n\n", 1)[-1].split("\n"))
