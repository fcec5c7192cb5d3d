"""Codex rollouts, all layouts since the first of 2025: decoded rows in, events out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reflector.core.entry import Kind
from reflector.harness.events import (
    Answered,
    Called,
    Compacted,
    Described,
    Event,
    Fold,
    Json,
    Place,
    Retracted,
    Said,
)
from reflector.harness.fields import (
    arguments_of,
    moment,
    object_at,
    objects,
    scoped,
    text_at,
    text_of,
)

HARNESS = "codex"

_NOT_THE_USER = (
    "<environment_context>",
    "# AGENTS.md instructions for",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<user_action>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<hook_prompt",
)

_IDE_CONTEXT = "# Context from my IDE setup:"
_IDE_REQUEST = "## My request for Codex:"

_ENVELOPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
_ID_AT_END = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")

_UNANSWERED = frozenset({"web_search_call", "image_generation_call"})
"""Calls that the provider carries out itself: no row with their result follows."""


class Codex:
    """The adapter of Codex."""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the first rows of a Codex rollout."""
        return bool(_bare(ahead)) or any(
            str(row.get("type")) in _ENVELOPES
            and isinstance(row.get("payload"), dict)
            and "timestamp" in row
            for row in ahead
        )

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        return _Rollout(ahead, stem).events


def _bare(ahead: Sequence[Json]) -> Json:
    """Return the first row of a rollout from before September 2025, whose items stand alone."""
    first = ahead[0] if ahead else {}
    return (
        first if {"id", "timestamp", "instructions"} <= set(first) and "type" not in first else {}
    )


class _Rollout:
    """What must be remembered between the rows of one file."""

    def __init__(self, ahead: Sequence[Json], stem: str) -> None:
        metas = (object_at(row, "payload") for row in ahead if row.get("type") == "session_meta")
        # Resumed and forked files repeat the line, also for the session they came from.
        self._meta = next(metas, {}) or _bare(ahead)
        self._place = _place(self._meta, stem)
        self._cwd = ""
        self._answer = ""
        self._introduced = False

    def events(self, row: Json) -> Iterator[Event]:
        """Yield the events of one row. What was said counts from items alone, never from news."""
        if not self._introduced:
            self._introduced = True
            yield from self._introduction(row)
        payload = object_at(row, "payload")
        match row.get("type"):
            case "response_item":
                yield from self._noted(payload, row)
            case "compacted":
                yield from self._compaction(payload, moment(row.get("timestamp")))
            case "turn_context":
                yield from self._moved(text_at(payload, "cwd"))
            case "session_meta" if payload == self._meta:
                yield from self._moved(text_at(payload, "cwd"))
            case "event_msg":
                yield from self._news(payload, moment(row.get("timestamp")))
            case str() if "payload" not in row:
                yield from self._noted(row, row)
            case _:
                return

    def _news(self, payload: Json, at: str) -> Iterator[Event]:
        if payload.get("type") == "thread_name_updated":
            yield Described(self._place, title=text_at(payload, "thread_name"))
        elif payload.get("type") == "error" and (text := text_at(payload, "message")):
            yield Said(self._place, Kind.ERROR, text, at=at)

    def _introduction(self, row: Json) -> Iterator[Event]:
        # Where reading resumes the session may have moved on from the folder it began in.
        begins = row.get("type") == "session_meta"
        self._cwd = text_at(self._meta, "cwd") if begins else ""
        headless = (
            self._meta.get("source") == "exec" or self._meta.get("originator") == "codex_exec"
        )
        yield Described(self._place, cwd=self._cwd, headless=headless)

    def _moved(self, cwd: str) -> Iterator[Event]:
        if cwd and cwd != self._cwd:
            self._cwd = cwd
            yield Described(self._place, cwd=cwd)

    def _noted(self, item: Json, row: Json) -> Iterator[Event]:
        """Yield the events of an item; the newest answer may turn out to be a summary."""
        for event in self._item(item, moment(row.get("timestamp"))):
            if isinstance(event, Said) and event.kind is not Kind.REASONING:
                self._answer = event.text.strip() if event.kind is Kind.ASSISTANT else ""
            yield event

    def _compaction(self, payload: Json, at: str) -> Iterator[Event]:
        """Retract the summary if the model wrote it as an answer.

        A summary made by the provider leaves no answer behind, so the one before it is only
        retracted when the summary contains it.
        """
        if self._answer and self._answer in text_at(payload, "message"):
            yield Retracted(self._place)
        self._answer = ""
        yield Compacted(self._place, at=at)

    def _item(self, item: Json, at: str) -> Iterator[Event]:
        name = str(item.get("type"))
        native = text_at(item, "id")
        record = scoped(self._place.session, native) if native else None
        if name == "message":
            yield from self._message(item, record, at)
        elif name == "reasoning":
            text = text_of(item.get("summary")) or text_of(item.get("content"))
            if text.strip():
                yield Said(self._place, Kind.REASONING, text, record, at=at)
        elif name.endswith("_call"):
            yield from self._call(item, name, record, at)
        elif name.endswith("_output"):
            result = _output(item["output"] if "output" in item else item.get("tools"))
            yield Answered(self._place, text_at(item, "call_id"), result, at)

    def _message(self, item: Json, record: str | None, at: str) -> Iterator[Event]:
        content = item.get("content")
        if item.get("role") == "assistant":
            text = text_of(content)
            if text.strip():
                yield Said(self._place, Kind.ASSISTANT, text, record, at=at, tentative=True)
        elif item.get("role") == "user":
            text = _typed(content)
            if text:
                yield Said(self._place, Kind.USER, text, record, at=at)

    def _call(self, item: Json, name: str, record: str | None, at: str) -> Iterator[Event]:
        call = text_at(item, "call_id") or text_at(item, "id")
        tool = _tool(item) or name.removesuffix("_call")
        given = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
        yield Called(self._place, call, tool, arguments_of(given), record, at=at)
        if name in _UNANSWERED:
            yield Answered(self._place, call, text_at(item, "status"), at)


def _place(meta: Mapping[str, Any], stem: str) -> Place:
    """Name the conversation of a file; a subagent's thread lies under the thread that began it."""
    named = _ID_AT_END.search(stem)
    own = text_at(meta, "id") or (named.group() if named else stem)
    spawned = object_at(meta, "source").get("subagent")
    if spawned is None and meta.get("thread_source") != "subagent":
        return Place(own)
    spawn = object_at(spawned, "thread_spawn") if isinstance(spawned, dict) else {}
    parent = text_at(meta, "parent_thread_id") or text_at(spawn, "parent_thread_id")
    return Place(parent, own) if parent and parent != own else Place(own, "subagent")


def _typed(content: object) -> str:
    """Return what the user said in this message, "" if it is all context put there by others."""
    parts = content if isinstance(content, list) else [content]
    texts = (_request(text_of(part)) for part in parts)
    said = (text for text in texts if not text.lstrip().startswith(_NOT_THE_USER))
    return "\n".join(text for text in said if text.strip())


def _request(text: str) -> str:
    """Cut off the list of open tabs that editors put before the user's words."""
    if text.startswith(_IDE_CONTEXT) and _IDE_REQUEST in text:
        return text.partition(_IDE_REQUEST)[2].strip()
    return text


def _tool(item: Json) -> str:
    name, space = text_at(item, "name"), text_at(item, "namespace")
    if not space:
        return name
    return f"{space}{name}" if space.endswith("_") else f"{space}.{name}"


def _output(output: object) -> str:
    """Return the text of a tool's output: wrapped JSON text (2025), plain text, content items."""
    if isinstance(output, str):
        return _unwrapped(output)
    if isinstance(output, dict) and "content" in output:
        return text_of(output["content"])
    named = [text_at(item, "name") for item in objects(output) if "text" not in item]
    return "\n".join(named) if any(named) else text_of(output)


def _unwrapped(output: str) -> str:
    if not output.startswith('{"output":'):
        return output
    try:
        wrapped = json.loads(output)
    except (ValueError, RecursionError):
        return output
    text = text_of(wrapped.get("output"))
    code = object_at(wrapped, "metadata").get("exit_code")
    return f"exit code: {code}\n{text}" if code else text
