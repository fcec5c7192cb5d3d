"""Sessions that OpenCode exported: decoded rows in, events out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reflector.core.entry import Kind
from reflector.harness.events import (
    Answered,
    Called,
    Compacted,
    Described,
    Event,
    Fold,
    Growing,
    Json,
    Place,
    Removed,
    Said,
)
from reflector.harness.fields import arguments_of, moment, object_at, objects, text_at

HARNESS = "opencode"

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*\Z', re.DOTALL)
_UNNAMED = ("New session - ", "Child session - ")


class OpenCode:
    """The adapter of OpenCode."""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the rows of an export: the session, then messages."""
        head = ahead[0] if ahead else {}
        info = object_at(head, "info")
        known = text_at(info, "id").startswith("ses_") or "projectID" in info
        return "messages" in head and known

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        return _Export(ahead[0] if ahead else {}, stem).events


class _Export:
    """What must be remembered between the messages of one session."""

    def __init__(self, head: Json, stem: str) -> None:
        self._info = object_at(head, "info")
        session, parent = text_at(self._info, "id") or stem, text_at(self._info, "parentID")
        self._place = Place(parent, session) if parent else Place(session)
        self._reverted = False

    def events(self, row: Json) -> Iterator[Event]:
        """Yield the events of one row: of the session itself, or of a message with its parts."""
        info = object_at(row, "info")
        if "messages" in row and info == self._info:
            yield self._about()
            return
        message = text_at(info, "id")
        if not message:
            return
        if self._is_reverted(message):
            yield Removed(self._place, message)
            return
        at = moment(object_at(info, "time").get("created"))
        if info.get("role") == "user":
            yield from self._user(row, message, at)
        elif info.get("role") == "assistant" and not info.get("summary"):
            yield from self._assistant(row, message, at)

    def _about(self) -> Described:
        title = text_at(self._info, "title").strip()
        named = not title.startswith(_UNNAMED)
        cwd = text_at(self._info, "directory")
        return Described(self._place, cwd=cwd, title=title if named else "")

    def _is_reverted(self, message: str) -> bool:
        """Tell whether a person took this message back. It stays until something new is said."""
        revert = object_at(self._info, "revert")
        before = self._reverted
        if text_at(revert, "messageID") == message:
            self._reverted = True
        # With a part named the message keeps what stands before that part.
        return self._reverted and (before or not revert.get("partID"))

    def _user(self, row: Json, message: str, at: str) -> Iterator[Event]:
        parts = objects(row.get("parts"))
        if any(part.get("type") == "compaction" for part in parts):
            yield Compacted(self._place, message, at)
        texts = [text for text in map(_typed, parts) if text.strip()]
        if texts:
            text = "\n".join([_unquoted(texts[0]), *texts[1:]])
            yield Said(self._place, Kind.USER, text, message, at=at)

    def _assistant(self, row: Json, message: str, at: str) -> Iterator[Event]:
        info = object_at(row, "info")
        events = tuple(self._answer(row, message, at))
        if "completed" in object_at(info, "time") or object_at(info, "error"):
            yield from events
        else:
            yield Growing(self._place, message, events)

    def _answer(self, row: Json, message: str, at: str) -> Iterator[Event]:
        for index, part in enumerate(objects(row.get("parts"))):
            record = text_at(part, "id") or f"{message}.{index}"
            kind = {"text": Kind.ASSISTANT, "reasoning": Kind.REASONING}.get(str(part.get("type")))
            if part.get("type") == "tool":
                yield from self._call(part, record, message, at)
            elif kind and not part.get("synthetic") and (text := text_at(part, "text")).strip():
                yield Said(self._place, kind, text, record, message=message, at=_began(part) or at)
        if error := object_at(object_at(row, "info"), "error"):
            text = text_at(object_at(error, "data"), "message") or text_at(error, "name")
            yield Said(self._place, Kind.ERROR, text, message, message=message, at=at)

    def _call(self, part: Json, record: str, message: str, at: str) -> Iterator[Event]:
        state = object_at(part, "state")
        call, tool = text_at(part, "callID") or record, text_at(part, "tool")
        given = arguments_of(state.get("input"))
        at = _began(state) or at
        yield Called(self._place, call, tool, given, record, message=message, at=at)
        if (result := _result(state)) is not None:
            until = moment(object_at(state, "time").get("end"))
            yield Answered(self._place, call, result, until)


def _typed(part: Json) -> str:
    """Return what a person put into a message with this part."""
    if part.get("synthetic") or part.get("ignored"):
        return ""
    match part.get("type"):
        case "text":
            return text_at(part, "text")
        case "subtask":
            return text_at(part, "prompt", "description")
        case "file":
            return f"[file {text_at(part, 'filename')}]" if text_at(part, "filename") else "[file]"
        case _:
            return ""


def _unquoted(text: str) -> str:
    """Take off the quotes that `opencode run` puts around an argument with spaces in it."""
    quoted = _QUOTED.match(text)
    return quoted[1].replace('\\"', '"') if quoted and " " in quoted[1] else text


def _began(timed: Json) -> str:
    return moment(object_at(timed, "time").get("start"))


def _result(state: Json) -> str | None:
    """Return the result of a call, None while it runs. A failed command is completed as well."""
    match state.get("status"):
        case "completed":
            code = object_at(state, "metadata").get("exit")
            output = text_at(state, "output")
            return f"{output}\n[exit code {code}]" if isinstance(code, int) and code else output
        case "error":
            return text_at(state, "error") or "[error]"
        case _:
            return None
