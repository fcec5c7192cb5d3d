"""The payload of a run: what its engine reads, written by the supervisor, parsed by the child."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from reflector.agent.engine import PayloadConversation, PayloadEntry, Route
from reflector.core.capture import shorten
from reflector.core.entry import Entry, Kind
from reflector.core.redact import redact, redact_record
from reflector.core.snapshot import Snapshot
from reflector.runtime.decisions import brief as briefs
from reflector.runtime.decisions.brief import Brief
from reflector.runtime.experiences import brief as segment_briefs
from reflector.runtime.experiences.brief import Segment

_ARGUMENT = 300
_SMALLEST = 200


@dataclass(frozen=True, slots=True)
class Payload:
    """Everything a child needs to know, in one file.

    `user_entries` are the ids that may serve as evidence; `base` and `branch` are what the child
    must find in its worktree. `unwanted` are the last lines that a person took back, the newest at
    the end. `review` says that a person was to approve this run when it began, `system_tokens` what
    the system tier may take as it is shown, `target` the only document that may change. `route` is
    None for an engine without a model, `brief` what a consolidation of decisions is given,
    `segment` what an extraction is.
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
    review: bool = False
    target: str = ""
    system_tokens: int = 0
    route: Route | None = None
    log_steps: bool = True
    brief: Brief | None = None
    segment: Segment | None = None

    def write(self, path: Path) -> None:
        """Write the payload as one JSON file."""
        text = json.dumps(asdict(self), ensure_ascii=False, indent=1)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))  # a path may hold any byte


def read(path: Path) -> Payload:
    """Read what `write` wrote."""
    fields: dict[str, Any] = json.loads(path.read_bytes())
    conversations = tuple(
        PayloadConversation(
            **{**each, "entries": tuple(PayloadEntry(**entry) for entry in each["entries"])}
        )
        for each in fields.pop("conversations")
    )
    way = fields.pop("route")
    brief = briefs.read(fields.pop("brief", None))
    segment = segment_briefs.read(fields.pop("segment", None))
    unwanted, user = tuple(fields.pop("unwanted")), tuple(fields.pop("user_entries"))
    return Payload(
        conversations=conversations,
        unwanted=unwanted,
        user_entries=user,
        route=Route(**way) if way else None,
        brief=brief,
        segment=segment,
        **fields,
    )


def conversation(
    taken: Snapshot, entries: Sequence[Entry], *, title: str, cwd: str, max_bytes: int
) -> PayloadConversation:
    """Render a snapshot for an engine.

    Redacts once more on the way out, since a journal row may be older than a rule. A group that is
    alone over the budget is cut inside its texts, which then say how much is missing.
    """
    clean = [_redacted(entry) for entry in entries]
    limit = _text_limit(clean, max_bytes)
    return PayloadConversation(
        id=taken.conversation,
        title=redact(title).text,
        cwd=redact(cwd).text,
        backlog_remaining=taken.backlog_remaining,
        entries=tuple(_shortened(entry, limit) for entry in clean),
    )


def _redacted(entry: Entry) -> PayloadEntry:
    parts = (entry.text, entry.tool, entry.arguments, entry.result or "")
    (text, tool, arguments, result), _ = redact_record(parts)
    return PayloadEntry(
        id=entry.id,
        kind=entry.kind.value,
        text=text,
        tool=tool,
        arguments=shorten(arguments, _ARGUMENT),
        result=None if entry.result is None else result,
        at=entry.at,
    )


def _text_limit(entries: Sequence[PayloadEntry], max_bytes: int) -> int:
    """Return the longest text, in characters, with which all fit; at least a useful head and tail.

    Counts bytes: a text in a script of three bytes a character has no more room than another.
    """

    def size(limit: int) -> int:
        parts = (part for each in entries for part in (each.text, each.result or ""))
        return sum(len(shorten(part, limit).encode("utf-8", "replace")) for part in parts)

    longest = max((len(each.text) + len(each.result or "") for each in entries), default=0)
    if size(longest) <= max_bytes:
        return longest
    return max(bisect_right(range(longest), max_bytes, key=size) - 1, _SMALLEST)


def _shortened(entry: PayloadEntry, limit: int) -> PayloadEntry:
    result = None if entry.result is None else shorten(entry.result, limit)
    return replace(entry, text=shorten(entry.text, limit), result=result)


def user_entries(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the ids of what a person said, which may serve as evidence."""
    return tuple(entry.id for entry in entries if entry.kind is Kind.USER)
