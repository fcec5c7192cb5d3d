"""The payload of a run: what its engine reads, written by the supervisor, parsed by the child."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reflector.agent.engine import PayloadConversation, PayloadEntry
from reflector.core.capture import shorten
from reflector.core.entry import Entry, Kind
from reflector.core.redact import redact
from reflector.core.snapshot import Snapshot

_ARGUMENT = 300
_SMALLEST = 200


@dataclass(frozen=True, slots=True)
class Payload:
    """Everything a child needs to know, in one file.

    `user_entries` are the ids that may serve as evidence; `base` and `branch` are what the child
    must find in its worktree.
    """

    run_id: str
    pipeline: str
    engine: str
    agent_id: str
    identity: str
    worktree: str
    repository: str
    branch: str
    base: str
    today: str
    focus: str
    unwanted: tuple[str, ...]
    user_entries: tuple[str, ...]
    conversations: tuple[PayloadConversation, ...]

    def write(self, path: Path) -> None:
        """Write the payload as one JSON file."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1), "utf-8")


def read(path: Path) -> Payload:
    """Read what `write` wrote."""
    fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
    conversations = tuple(
        PayloadConversation(
            **{**each, "entries": tuple(PayloadEntry(**entry) for entry in each["entries"])}
        )
        for each in fields.pop("conversations")
    )
    unwanted, user = tuple(fields.pop("unwanted")), tuple(fields.pop("user_entries"))
    return Payload(conversations=conversations, unwanted=unwanted, user_entries=user, **fields)


def conversation(
    taken: Snapshot, entries: Sequence[Entry], *, title: str, cwd: str, max_bytes: int
) -> PayloadConversation:
    """Render a snapshot for an engine.

    Redacts once more on the way out, since a journal row may be older than a rule. A group that is
    alone over the budget is cut inside its texts, which then say how much is missing.
    """
    limit = _text_limit([len(entry.text) + len(entry.result or "") for entry in entries], max_bytes)
    return PayloadConversation(
        id=taken.conversation,
        title=redact(title).text,
        cwd=cwd,
        backlog_remaining=taken.backlog_remaining,
        entries=tuple(_entry(entry, limit) for entry in entries),
    )


def _text_limit(lengths: Sequence[int], max_bytes: int) -> int:
    """Return the longest text that lets all of them fit; at least a useful head and tail."""
    if sum(lengths) <= max_bytes:
        return max(lengths, default=0)
    left, limit = max_bytes, _SMALLEST
    for position, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - position)
        if length > share:
            return max(share, _SMALLEST)
        left -= length
        limit = max(limit, length)
    return limit


def _entry(entry: Entry, limit: int) -> PayloadEntry:
    return PayloadEntry(
        id=entry.id,
        kind=entry.kind.value,
        text=shorten(redact(entry.text).text, limit),
        tool=entry.tool,
        arguments=shorten(redact(entry.arguments).text, _ARGUMENT),
        result=None if entry.result is None else shorten(redact(entry.result).text, limit),
        at=entry.at,
    )


def user_entries(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the ids of what a person said, which may serve as evidence."""
    return tuple(entry.id for entry in entries if entry.kind is Kind.USER)
