"""SWE-agent trajectories: decoded rows in, events out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reflector.core.entry import Kind
from reflector.harness.events import Answered, Called, Event, Fold, Json, Place, Said
from reflector.harness.fields import arguments_of, object_at, objects, text_at, text_of

HARNESS = "swe-agent"

_COMMAND = "command"
"""The call and the tool of a command that stands in the text, as before function calling."""


class SweAgent:
    """The adapter of SWE-agent."""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the rows of a trajectory: its head, then messages."""
        return bool(ahead) and {"trajectory", "history"} <= set(ahead[0])

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix.

        Nothing in a trajectory names the instance that was worked on: the file name does.
        """
        del ahead
        return _Trajectory(Place(stem)).events


class _Trajectory:
    """What must be remembered between the messages of one trajectory."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._asked = False
        self._commanded = False

    def events(self, row: Json) -> Iterator[Event]:
        """Yield what one message says. Demonstrations and system prompts say nothing."""
        if row.get("is_demo"):
            return
        text = text_of(row.get("content"))
        match row.get("role"):
            case "user" if not self._asked:
                self._asked = True
                yield Said(self._place, Kind.USER, text)
            case "user":
                yield from self._observed(text)
            case "assistant":
                yield from self._answer(row, text_at(row, "thought") or text)
            case "tool":
                calls = row.get("tool_call_ids") or [row.get("tool_call_id")]
                for call in calls if isinstance(calls, list) else []:
                    yield Answered(self._place, str(call), text)
            case None if "response" in row and "observation" in row:
                yield from self._answer(row, text_at(row, "thought", "response"))
                yield from self._observed(text_at(row, "observation"))
            case _:
                return

    def _observed(self, text: str) -> Iterator[Event]:
        """Take what no person said: the first user message is the task, the others are output."""
        if self._commanded:
            self._commanded = False
            yield Answered(self._place, _COMMAND, text)

    def _answer(self, row: Json, text: str) -> Iterator[Event]:
        for block in objects(row.get("thinking_blocks")):
            if thought := text_at(block, "thinking"):
                yield Said(self._place, Kind.REASONING, thought, block=1)
        if text.strip():
            yield Said(self._place, Kind.ASSISTANT, text)
        calls = objects(row.get("tool_calls"))
        for index, call in enumerate(calls, 2):
            function = object_at(call, "function")
            arguments = arguments_of(function.get("arguments"))
            name = text_at(function, "name")
            yield Called(self._place, text_at(call, "id"), name, arguments, block=index)
        action = text_at(row, "action")
        if action and not calls:
            self._commanded = True
            yield Called(self._place, _COMMAND, _COMMAND, action, block=2)
