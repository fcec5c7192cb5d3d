"""What an engine is: somebody who edits the memory in a worktree and says how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
class Route:
    """Where a model is asked, and what it may use. Unused by an engine without a model.

    `base_url` "" is the provider's own; `fallback` are models tried in order when `model` refuses
    or is not there; `idle_seconds` without a byte end a request; `temperature` None sends none.
    `preset` is a known agent CLI, `command` the words of any other one.
    """

    model: str = ""
    base_url: str = ""
    keyless: bool = False
    fallback: Sequence[str] = ()
    temperature: float | None = None
    idle_seconds: float = 120
    most_output_tokens: int = 16_000
    most_turns: int = 60
    most_tokens: int = 400_000
    most_cost_usd: float = 0.5
    preset: str = ""
    command: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a model, whether or not anything came of it.

    `name` is `<pipeline>.<what>`, `tokens` what it used by kind, `tools` the calls it answered
    with, `error` the reason it failed for; `asked` and `answered` are the new parts of the talk.
    `conversation` is whose words it was about, `counts` what came of them, by kind and reason.
    """

    name: str
    model: str
    elapsed_ms: int
    tokens: Mapping[str, int]
    tools: Sequence[str] = ()
    error: str = ""
    detail: str = ""
    asked: object = None
    answered: object = None
    conversation: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


Record = Callable[[Step], None]

Left = Literal["nothing", "edits", "commits"]
"""What a program left in a worktree, as git tells it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: its exit code, negative for a signal, and the end of its stderr."""

    code: int
    said: str = ""


class Programs(Protocol):
    """Runs programs in the worktree: confined, tied to us, ended with everything below them."""

    def run(self, words: Sequence[str], given: bytes, hear: Callable[[bytes], None]) -> Ran:
        """Run one to its end; `given` is its stdin, `hear` is told its stdout line by line.

        When it returns nothing of the program is alive. Raises OSError when it cannot be started,
        FileNotFoundError when it is not there.
        """
        ...

    def left(self) -> Left:
        """Return what the worktree holds beyond its base, by git alone."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What an engine is asked to do.

    `worktree` is the only folder it may write, `today` the local date (ISO 8601), `focus` what the
    person asked to look at ("" = nothing in particular), `unwanted` lines that a person undid or
    rejected and that must not be written again, `system_left` the tokens by which the system tier
    may still grow (None: any number; below zero: it is over its share and may only shrink).
    `prompt` is what a model is told before anything else, `opening` the first message of the run.
    `record` is told every call of a model; None when nobody wants to know. `programs` is there for
    an engine that runs one.
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
    opening: str = ""
    route: Route = field(default_factory=Route)
    record: Record | None = None
    programs: Programs | None = None


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
