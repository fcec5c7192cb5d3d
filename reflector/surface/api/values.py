"""What the Python API answers with: frozen values, without secrets, whose fields are never renamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Appended:
    """What `append` added to the journal. Read again, a message adds nothing.

    `conversation` is the full id, for whoever asks about it. `left_out` counts, by reason, what may
    not be recorded: recording is paused, the folder is excluded, the turn is off the record.
    """

    conversation: str
    entries: int = 0
    steps: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decided:
    """What an event led to.

    `decision` is reserved, queued, marked, refused or nothing; `why` says what kept a run from
    starting, `until` when that ends (RFC 3339); `supervisor` who works on it: owns, busy, none, or
    the reason why none could start. `run` is the id of the run that was asked for, if there is one.
    """

    decision: str
    why: str | None = None
    until: str | None = None
    supervisor: str = "none"
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Reflected:
    """What `reflect` did: the runs in order, what they changed, and the last run's own report.

    A run is a mapping with the keys that `reflector runs --json` prints: `id`, `outcome`,
    `merge_commit`, `usage` and so on. `changes` are `{"path", "change"}`; `learned` holds the lines
    that are new, by path. `limited`: a limit of the day kept the next run from starting.
    """

    runs: tuple[Mapping[str, Any], ...] = ()
    changes: tuple[Mapping[str, str], ...] = ()
    learned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    report: str = ""
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the memory lists it. `in_context`: its whole text is in the compiled block.

    `problem` says why its header cannot be read, "" if it can.
    """

    path: str
    description: str
    tokens: int
    size: int
    read_only: bool
    in_context: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The commit that a change became, the paths that it changed, and what to be aware of."""

    commit: str
    paths: tuple[str, ...]
    warnings: tuple[str, ...] = ()
