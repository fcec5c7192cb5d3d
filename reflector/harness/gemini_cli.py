"""Gemini CLI sessions, as JSON lines or as one older document: decoded rows in, events out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

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
    Lookback,
    Place,
    Removed,
    Said,
)
from reflector.harness.fields import arguments_of, moment, object_at, objects, text_at, text_of

HARNESS = "gemini-cli"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_WORKSPACE = re.compile(r"^- \*\*Workspace Directories:\*\*\n\s+- (.+)$", re.MULTILINE)
_HOOK, _END_OF_HOOK = "<hook_context>", "</hook_context>"
_NOT_THE_USER = (
    "<session_context>",
    "<state_snapshot>",
)
_FILES_FOLLOW = "--- Content from referenced files ---"
_TYPES = frozenset({"user", "gemini", "info", "warning", "error"})
_ANSWERED = frozenset({"success", "error", "cancelled"})
_CALLS_FROM = 2
"""Blocks of a record: 0 its text, 1 its thoughts, then its calls; so none moves as it grows."""


@dataclass(frozen=True, slots=True)
class GeminiCli:
    """The adapter of Gemini CLI. A subagent's file lies in a `folder` named after its parent."""

    folder: str = ""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the first rows of a session of Gemini CLI."""
        return any(map(_is_header, ahead))

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        return _Session(ahead, stem, self.folder).events


def _is_header(row: Json) -> bool:
    return isinstance(row.get("sessionId"), str) and isinstance(row.get("projectHash"), str)


class _Session:
    """What must be remembered between the rows of one file."""

    def __init__(self, ahead: Sequence[Json], stem: str, folder: str) -> None:
        self._header = next(filter(_is_header, ahead), {})
        session = text_at(self._header, "sessionId") or stem
        subagent = self._header.get("kind") == "subagent"
        self._place = Place(folder or session, session) if subagent else Place(session)
        self._ahead = ahead
        self._introduced = False
        self._seen: dict[str, None] = {}
        self._open: set[str] = set()

    def events(self, row: Json) -> Iterator[Event]:
        """Yield the events of one row. What the program only sends to the model says nothing."""
        if not self._introduced:
            self._introduced = True
            yield Described(self._place, cwd=_folder_of(self._ahead), title=_title(self._header))
        if "$rewindTo" in row:
            yield from self._rewound(text_at(row, "$rewindTo"))
        elif "$set" in row:
            yield from self._updated(object_at(row, "$set"))
        else:
            # The first row of a file may carry the messages that it began with.
            for message in (row, *objects(row.get("messages"))):
                yield from self._message(message)

    def _record(self, native: str) -> str:
        """Name a record; what a synced history is made of has the same ids in every session."""
        session = self._place.agent or self._place.session
        return native if _UUID.match(native) else f"{session}.{native}"

    def _rewound(self, target: str) -> Iterator[Event]:
        """Take back a message and all behind it, as the person did. Others' ids take back none."""
        yield Lookback(self._place)
        if target not in self._seen:
            return
        order = list(self._seen)
        for native in order[order.index(target) :]:
            del self._seen[native]
            yield Removed(self._place, self._record(native))

    def _updated(self, given: Json) -> Iterator[Event]:
        """Take in what became known. The messages are the model's view, not the conversation.

        They shrink when the history is compressed or long results are masked, and nothing that a
        person or the model said is taken back by that.
        """
        about = Described(self._place, cwd=_directory(given), title=_title(given))
        if about.cwd or about.title:
            yield about
        for message in objects(given.get("messages")):
            if _text(message.get("content")).lstrip().startswith("<state_snapshot>"):
                record = self._record(text_at(message, "id"))
                yield Compacted(self._place, record, moment(message.get("timestamp")))

    def _message(self, row: Json) -> Iterator[Event]:
        native, at = text_at(row, "id"), moment(row.get("timestamp"))
        if not native or str(row.get("type")) not in _TYPES:
            return
        self._seen.setdefault(native)
        record = self._record(native)
        match row["type"]:
            case "gemini":
                yield Growing(self._place, record, tuple(self._answer(row, record, at)))
            case "user":
                yield from self._responses(row, at)
                if text := _typed(row):
                    self._open.clear()
                    yield Said(self._place, Kind.USER, text, record, at=at)
            case "error" if text := _text(row.get("content")).strip():
                yield Said(self._place, Kind.ERROR, text, record, at=at)
            case _:
                return

    def _answer(self, row: Json, record: str, at: str) -> Iterator[Event]:
        text, thoughts = _text(row.get("content")), _thoughts(row)
        if thoughts:
            yield Said(self._place, Kind.REASONING, thoughts, record, 1, at=at)
        if text.strip():
            yield Said(self._place, Kind.ASSISTANT, text, record, 0, at=at)
        for index, call in enumerate(_calls(row), _CALLS_FROM):
            name, native = text_at(call, "name"), text_at(call, "id")
            arguments = arguments_of(call.get("args"))
            yield Called(self._place, native, name, arguments, record, index, at=at)
            result = _result(call)
            if result is None:
                self._open.add(native)
            else:
                self._open.discard(native)
                yield Answered(self._place, native, result, moment(call.get("timestamp")))

    def _responses(self, row: Json, at: str) -> Iterator[Event]:
        """Answer the calls that their own record left open; for the others this is a copy."""
        for part in objects(row.get("content")):
            native = text_at(object_at(part, "functionResponse"), "id")
            if native in self._open:
                self._open.discard(native)
                yield Answered(self._place, native, _output(part), at)


def _typed(row: Json) -> str:
    """Return what the person typed: as displayed, else without what the program added."""
    shown = row.get("displayContent") or row.get("content")
    parts = shown if isinstance(shown, list) else [shown]
    texts = (_without_hooks(_text(part)) for part in parts)
    typed = takewhile(lambda text: not text.lstrip().startswith(_FILES_FOLLOW), texts)
    said = (text for text in typed if not text.lstrip().startswith(_NOT_THE_USER))
    return "\n".join(text for text in said if text.strip())


def _without_hooks(text: str) -> str:
    """Take out what hooks added. A search, no pattern: openings without an end cost a square."""
    kept, at = [], 0
    while (start := text.find(_HOOK, at)) >= 0 and (end := text.find(_END_OF_HOOK, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(_END_OF_HOOK)
    return "".join((*kept, text[at:])).lstrip() if kept else text


def _text(content: object) -> str:
    """Return the text of content: a text, a part, a list of parts; thoughts are none of it."""
    parts = content if isinstance(content, list) else [content]
    texts = (_part(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("thought"):
        return ""
    if "inlineData" in part or "fileData" in part:
        return "[file]"
    return text_at(part, "text")


def _thoughts(row: Json) -> str:
    thoughts = objects(row.get("thoughts"))
    texts = (
        ": ".join(filter(None, (text_at(t, "subject"), text_at(t, "description"))))
        for t in thoughts
    )
    return "\n".join(filter(None, texts))


def _calls(row: Json) -> Sequence[Json]:
    """Return the calls of a record; a file that was written anew keeps them in its content."""
    listed = objects(row.get("toolCalls"))
    return listed or [
        object_at(part, "functionCall")
        for part in objects(row.get("content"))
        if "functionCall" in part
    ]


def _result(call: Json) -> str | None:
    """Return the result of a call, None while there is none."""
    result = call.get("result")
    if parts := result if isinstance(result, list) else [result] if result else []:
        return "\n".join(filter(None, map(_output, parts)))
    status = str(call.get("status"))
    if status not in _ANSWERED:
        return None
    return text_at(call, "resultDisplay") or f"[{status}]"


def _output(part: object) -> str:
    """Return the text of one part of a result: a function response, or any other part."""
    if not isinstance(part, dict) or "functionResponse" not in part:
        return _part(part)
    given = object_at(part, "functionResponse").get("response")
    if isinstance(given, dict) and {"output", "error"} & set(given):
        return text_of(given.get("output") or given.get("error"))
    return text_of(given) if isinstance(given, str) else arguments_of(given)


def _title(row: Json) -> str:
    return text_at(row, "summary").strip()


def _directory(row: Json) -> str:
    directories = row.get("directories")
    first = directories[0] if isinstance(directories, list) and directories else ""
    return first if isinstance(first, str) else ""


def _folder_of(ahead: Sequence[Json]) -> str:
    """Return the folder a session began in: no row names it, but the model is told."""
    for row in ahead:
        given = object_at(row, "$set") or row
        if directory := _directory(given):
            return directory
        for message in (given, *objects(given.get("messages"))):
            if told := _WORKSPACE.search(_text(message.get("content"))):
                return told[1]
    return ""
