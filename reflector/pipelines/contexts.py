"""What templates may mention that belong to no pipeline alone: values, one type for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.memory.short_memory import MOST_BYTES, MOST_CHARACTERS, MOST_ENTRIES


@dataclass(frozen=True, slots=True)
class Named:
    """A text under its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class SeedContext:
    """What a seed document may mention. `date` is the local date (ISO 8601)."""

    identity: str
    date: str


@dataclass(frozen=True, slots=True)
class PromptConversation:
    """One conversation of a run's payload, as the prompt announces it; sizes in rows and bytes."""

    id: str
    title: str
    cwd: str
    entries: int
    size: int
    backlog_remaining: int


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a run's prompt says besides the persona.

    `memory_dir` and `transcript_path` are absolute, `today` the local date (ISO 8601), `focus`
    what the person asked to look at ("" = nothing in particular), `unwanted` lines that a person
    undid or rejected, oldest first, `target` the one document that a dream may change ("" = the
    whole memory).
    """

    run_id: str
    agent_id: str
    memory_dir: str
    transcript_path: str
    today: str
    focus: str
    conversations: Sequence[PromptConversation]
    unwanted: Sequence[str]
    target: str = ""


@dataclass(frozen=True, slots=True)
class OpeningDocument:
    """A document as the first message shows it; `size` in bytes, `text` for those shown whole."""

    path: str
    size: int
    description: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class OpeningExperience:
    """An experience that may be a skill, with the sessions in which it was used or confirmed."""

    path: str
    task: str
    sessions: int


@dataclass(frozen=True, slots=True)
class OpeningContext:
    """What the first message of a run shows. `rest` says that the transcript goes on.

    `file` holds the transcript for an agent CLI, which edits files itself; "" for our own tools.
    `ripe` are experiences that were used so often that one may be a skill.
    """

    tree: Sequence[OpeningDocument]
    system: Sequence[OpeningDocument]
    transcript: str
    lines: int
    rest: bool
    file: str = ""
    ripe: Sequence[OpeningExperience] = ()


@dataclass(frozen=True, slots=True)
class PrefaceContext:
    """What the preface of the compiled block mentions: a command that shows the document PATH."""

    read_more: str


@dataclass(frozen=True, slots=True)
class ShortMemoryContext:
    """What the policy of short memory mentions: the paths of a session's files ("" = none)."""

    user: str
    project: str
    most_entries: int = MOST_ENTRIES
    most_characters: int = MOST_CHARACTERS
    most_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class McpContext:
    """What the words of the MCP server mention: whose memory it is, how much one answer holds."""

    identity: str
    most_documents: int
    most_characters: int
