"""The conversations of a run as one text that a model reads in bounded steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reflector.agent.engine import PayloadConversation, PayloadEntry
from reflector.core.quoting import barred


def render(conversations: Sequence[PayloadConversation]) -> str:
    """Write every entry with its id, so that it can be named as evidence.

    Whatever somebody said stands behind `| `: no line of it can be taken for one of ours.
    """
    return "".join(line + "\n" for one in conversations for line in _conversation(one))


def _conversation(one: PayloadConversation) -> Iterator[str]:
    yield f"=== conversation {one.id}, backlog_remaining {one.backlog_remaining}"
    yield from barred(f"title: {one.title}")
    yield from barred(f"folder: {one.cwd}")
    for entry in one.entries:
        yield from _entry(entry)
    yield f"=== end of conversation {one.id}"


def _entry(entry: PayloadEntry) -> Iterator[str]:
    yield ""
    yield f"[entry {entry.id}] {entry.kind} {entry.at}".rstrip()
    if entry.tool:
        yield from barred(f"{entry.tool} {entry.arguments}")
        yield from barred("no result" if entry.result is None else f"result: {entry.result}")
    if entry.text:
        yield from barred(entry.text)
