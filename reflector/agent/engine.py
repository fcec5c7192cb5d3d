"""What an engine is: somebody who edits the memory in a worktree and says how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

FinishKind = Literal["committed", "nothing_to_record", "failed"]


@dataclass(frozen=True, slots=True)
class PayloadEntry:
    """One journal entry as an engine sees it. `kind` is a value of `core.entry.Kind`."""

    id: str
    kind: str
    text: str
    tool: str = ""
    arguments: str = ""
    result: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class PayloadConversation:
    """The snapshot of one conversation. `id` is the public conversation id."""

    id: str
    title: str
    cwd: str
    backlog_remaining: int
    entries: Sequence[PayloadEntry]


@dataclass(frozen=True, slots=True)
class Task:
    """What an engine is asked to do.

    `worktree` is the only folder it may write, `today` the local date (ISO 8601), `focus` what the
    person asked to look at ("" = nothing in particular), `unwanted` lines that a person undid or
    rejected and that must not be written again, `system_left` the tokens by which the system tier
    may still grow (None: any number; below zero: it is over its share and may only shrink).
    """

    run_id: str
    pipeline: str
    agent_id: str
    worktree: Path
    today: str
    focus: str
    conversations: Sequence[PayloadConversation]
    unwanted: Sequence[str] = ()
    prompt: str = ""
    system_left: int | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """One line of a commit's `Updates:` list: what changed and the user entries it rests on."""

    text: str
    evidence: Sequence[str] = ()


class Commit(Protocol):
    """The commit tool: stages everything below the memory folders and commits once.

    Writes the subject `<kind>(<pipeline>): <summary>`, the `Updates:` list with
    `[entry ID]` marks, and the trailers. Returns the new tip's sha. Raises `DocumentError` with
    the validator's sentences when the result would be refused.
    """

    def __call__(
        self, kind: Literal["fix", "feat", "chore"], summary: str, updates: Sequence[Update]
    ) -> str:
        """Commit the worktree's present content."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used. `cost_usd` is None when the price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Finish:
    """How an engine ended.

    `reason` is a value of `core.run.Reason`, set only when `kind` is `failed`. `report` is
    Markdown for the person: Summary, Memory changes, Skill changes, Skipped, Commit, Issues.
    """

    kind: FinishKind
    report: str
    reason: str = ""
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    refusals: int = 0


class Engine(Protocol):
    """Edits the memory of one worktree."""

    @property
    def name(self) -> str:
        """Return the engine's name, as in settings and the ledger."""
        ...

    def run(self, task: Task, commit: Commit, progress: Callable[[str], None]) -> Finish:
        """Do the task. `progress` takes one short line at a time, never transcript text."""
        ...
