"""OpenHands events, of version 1 and of version 0: decoded rows in, events out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reflector.core.entry import Kind
from reflector.harness.events import (
    Answered,
    Called,
    Compacted,
    Event,
    Fold,
    Json,
    Place,
    Said,
)
from reflector.harness.fields import (
    arguments_of,
    moment,
    object_at,
    scoped,
    text_at,
    text_of,
)

HARNESS = "openhands"

_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_SOURCES = frozenset({"agent", "user", "environment"})
_ENDINGS = ("Event", "Observation", "Condensation", "CondensationRequest")
_SAYING = frozenset({"message", "finish"})
_INTERNAL = frozenset(
    {"system", "recall", "change_agent_state", "condensation", "condensation_request", "null"}
)


class OpenHands:
    """The adapter of OpenHands."""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the first events of a conversation."""
        return any(_is_event(row) or _is_old_event(row) for row in ahead)

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix.

        No event names its conversation: the file name does.
        """
        del ahead
        return _Conversation(Place(stem)).events


def _is_event(row: Json) -> bool:
    return str(row.get("source")) in _SOURCES and text_at(row, "kind").endswith(_ENDINGS)


def _is_old_event(row: Json) -> bool:
    spoken = isinstance(row.get("action"), str) or isinstance(row.get("observation"), str)
    return spoken and isinstance(row.get("id"), int) and str(row.get("source")) in _SOURCES


class _Conversation:
    """What must be remembered between the events of one conversation: version 0's open calls."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._open: set[str] = set()

    def events(self, row: Json) -> Iterator[Event]:
        """Yield what one event says. States, statistics and system prompts say nothing."""
        at = moment(row.get("timestamp"))
        if isinstance(row.get("kind"), str):
            yield from self._event(row, text_at(row, "id") or None, at)
        elif _is_old_event(row):
            record = scoped(self._place.session, str(row["id"]))
            if isinstance(row.get("action"), str):
                yield from self._old_action(row, record, at)
            else:
                yield from self._old_observation(row, record, at)

    # Version 1

    def _event(self, row: Json, record: str | None, at: str) -> Iterator[Event]:
        match row["kind"]:
            case "MessageEvent":
                yield from self._message(row, record, at)
            case "ActionEvent":
                yield from self._action(row, record, at)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
                if object_at(row, "observation").get("kind") != "FinishObservation":
                    yield Answered(self._place, text_at(row, "tool_call_id"), _observed(row), at)
            case "Condensation":
                yield Compacted(self._place, record, at)
            case "ConversationErrorEvent":
                text = text_at(row, "detail", "code")
                yield Said(self._place, Kind.ERROR, text, record, at=at)
            case _:
                return

    def _message(self, row: Json, record: str | None, at: str) -> Iterator[Event]:
        message = object_at(row, "llm_message")
        text = text_of(message.get("content"))
        if row.get("source") == "user":
            if text.strip():
                yield Said(self._place, Kind.USER, text, record, at=at)
            return
        group = text_at(row, "llm_response_id")
        if thought := text_at(message, "reasoning_content"):
            yield Said(self._place, Kind.REASONING, thought, record, 1, group, at)
        if (text := _THINKING.sub("", text)).strip():
            yield Said(self._place, Kind.ASSISTANT, text, record, 0, group, at)

    def _action(self, row: Json, record: str | None, at: str) -> Iterator[Event]:
        group = text_at(row, "llm_response_id")
        if thought := text_at(row, "reasoning_content"):
            yield Said(self._place, Kind.REASONING, thought, record, 1, group, at)
        if (text := _THINKING.sub("", text_of(row.get("thought")))).strip():
            yield Said(self._place, Kind.ASSISTANT, text, record, 0, group, at)
        action, call = object_at(row, "action"), text_at(row, "tool_call_id")
        if action.get("kind") == "FinishAction":
            if report := text_at(action, "message"):
                yield Said(self._place, Kind.ASSISTANT, report, record, 2, group, at)
            return
        given = object_at(row, "tool_call").get("arguments") or action
        tool = text_at(row, "tool_name")
        yield Called(self._place, call, tool, arguments_of(given), record, 2, group, at)

    # Version 0

    def _old_action(self, row: Json, record: str, at: str) -> Iterator[Event]:
        action, given = str(row["action"]), object_at(row, "args")
        if action == "condensation":
            yield Compacted(self._place, record, at)
        if action in _INTERNAL:
            return
        text = text_at(given, "content", "final_thought") if action in _SAYING else ""
        if row.get("source") == "user":
            if text.strip():
                yield Said(self._place, Kind.USER, text, record, at=at)
            return
        thought = _THINKING.sub("", text_at(given, "thought"))
        kind = Kind.REASONING if action == "think" else Kind.ASSISTANT
        if thought.strip():
            yield Said(self._place, kind, thought, record, 0, at=at)
        if text.strip():
            yield Said(self._place, Kind.ASSISTANT, text, record, 1, at=at)
        if action not in _SAYING and action != "think":
            arguments = {name: value for name, value in given.items() if name != "thought"}
            call = str(row["id"])
            yield Called(self._place, call, action, arguments_of(arguments), record, 2, at=at)
            self._open.add(call)

    def _old_observation(self, row: Json, record: str, at: str) -> Iterator[Event]:
        call, text = str(row.get("cause")), text_of(row.get("content"))
        if call in self._open:
            self._open.discard(call)
            yield Answered(self._place, call, text, at)
        elif row["observation"] == "error" and text.strip():
            yield Said(self._place, Kind.ERROR, text, record, at=at)


def _observed(row: Json) -> str:
    """Return what came of a call: its output, the error, or why the person refused it."""
    seen = object_at(row, "observation")
    text = text_of(seen.get("content")) or text_at(row, "error", "rejection_reason")
    code = seen.get("exit_code")
    return f"{text}\n[exit code {code}]" if isinstance(code, int) and code > 0 else text
