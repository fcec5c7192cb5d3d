"""Sessions of pi and of oh-my-pi, which are trees: decoded rows in, events out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reflector.core.entry import Kind
from reflector.harness.events import (
    Answered,
    Called,
    Compacted,
    Described,
    Ended,
    Event,
    Fold,
    Json,
    Place,
    Said,
)
from reflector.harness.fields import arguments_of, moment, object_at, objects, text_at, text_of

HARNESS = "pi"

_STREAMED = frozenset({"agent_start", "turn_start", "message_start", "agent_end"})
"""Rows of `pi --mode json`, whose output begins with the same row as a session file."""

_SKILL = re.compile(r"\A\s*<skill name=.*?</skill>\s*", re.DOTALL)
"""What a typed `/skill:name words` is replaced by, before the words."""

_SESSION_NAME = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z_([^/\\]+?)(?:\.jsonl)?\Z")
"""How files of sessions are named, and the folders of what belongs to them."""

_PUNCTUATION = re.compile(r"[^0-9A-Za-z-]")

_COMMANDS = {"bashExecution": "command", "pythonExecution": "code"}
"""What the user ran himself: the role, and the field that holds what was run."""


@dataclass(frozen=True, slots=True)
class Pi:
    """The adapter of pi and oh-my-pi. A subagent's file lies in a `folder` named like its parent's.

    Of other files the folder says nothing.
    """

    folder: str = ""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell by content whether these are the first rows of a session of pi."""
        kinds = {kind for row in ahead if isinstance(kind := row.get("type"), str)}
        return bool(_header(ahead)) and not kinds & _STREAMED

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        return _Session(ahead, stem, self.folder).events


def _header(ahead: Sequence[Json]) -> Json:
    """Return the row that names the session: the first, or the one behind a title."""
    mine = (row for row in ahead[:2] if row.get("type") == "session" and text_at(row, "id"))
    return next(mine, {})


class _Session:
    """What must be remembered between the rows of one file.

    Rows count in the order of the file, whatever branch they are on: what was said on a branch
    that the user left was still said.
    """

    def __init__(self, ahead: Sequence[Json], stem: str, folder: str) -> None:
        self._header = _header(ahead)
        self._place = _place(self._header, ahead, stem, folder)
        # It is written over in place, so it holds the newest title wherever reading resumes.
        slots = (text_at(row, "title") for row in ahead[:1] if row.get("type") == "title")
        self._slot = next(slots, "")
        self._introduced = False

    def events(self, row: Json) -> Iterator[Event]:
        """Yield the events of one row; rows of unknown types have none."""
        if not self._introduced:
            self._introduced = True
            yield Described(self._place, cwd=text_at(self._header, "cwd"), title=self._slot)
        match row.get("type"):
            case "message":
                yield from self._message(row)
            case "compaction":
                yield Compacted(self._place, self._record(row), moment(row.get("timestamp")))
            case "reset_boundary":
                yield Ended(self._place)
            case "session" | "title_change" | "session_info" if not self._slot:
                if title := text_at(row, "title", "name").strip():
                    yield Described(self._place, title=title)
            case _:
                return

    def _record(self, row: Json) -> str | None:
        """Name a row so that its copies in forks have the same name, and no other row has it.

        Ids have eight digits and count within their file only; with the time of the row they are
        unique, and forks, also forks of forks, copy both. Rows of the first version have no id
        until a later pi writes the file anew and adds one: what they say names them before and
        after.
        """
        if not any(row.get(name) for name in ("id", "timestamp")):
            return None
        at = _PUNCTUATION.sub("", str(row.get("timestamp") or self._place.session))
        names = [name for name in row if name in ("id", "timestamp")]
        added = names == ["timestamp", "id"]  # behind what was there: pi itself writes it before
        native = "" if added else text_at(row, "id")
        if not native:
            said = arguments_of(row.get("message"))
            native = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]
        return f"{native}.{at}"

    def _message(self, row: Json) -> Iterator[Event]:
        message, record = object_at(row, "message"), self._record(row)
        at = moment(row.get("timestamp")) or moment(message.get("timestamp"))
        match message.get("role"):
            case "user":
                if text := _typed(message):
                    aside = bool(message.get("steering"))
                    yield Said(self._place, Kind.USER, text, record, at=at, aside=aside)
            case "assistant":
                yield from self._assistant(message, record, at)
            case "toolResult":
                result = text_of(message.get("content"))
                yield Answered(self._place, text_at(message, "toolCallId"), result, at)
            case "bashExecution" | "pythonExecution" as role:
                # Typed with two marks it was kept from the agent, and is kept from us.
                if not message.get("excludeFromContext"):
                    given = arguments_of({(name := _COMMANDS[role]): message.get(name)})
                    yield Called(self._place, role, role, given, record, at=at)
                    yield Answered(self._place, role, _output(message), at)
            case _:  # "custom" is what extensions inject, our own memory among it
                return

    def _assistant(self, message: Json, record: str | None, at: str) -> Iterator[Event]:
        content = message.get("content")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
        )
        for index, block in enumerate(blocks):
            match block.get("type"):
                case "toolCall":
                    call, tool = text_at(block, "id"), text_at(block, "name")
                    given = arguments_of(block.get("arguments"))
                    yield Called(self._place, call, tool, given, record, index, at=at)
                case "text" | "thinking" as kind if text_at(block, kind).strip():
                    said = Kind.ASSISTANT if kind == "text" else Kind.REASONING
                    yield Said(self._place, said, text_at(block, kind), record, index, at=at)
                case _:
                    continue
        if message.get("stopReason") == "error":
            text = text_at(message, "errorMessage") or "error"
            yield Said(self._place, Kind.ERROR, text, record, len(blocks), at=at)


def _place(header: Json, ahead: Sequence[Json], stem: str, folder: str) -> Place:
    """Name the conversation of a file; one that another agent began says so in its first rows."""
    own = text_at(header, "id") or stem
    if not any(row.get("type") == "session_init" and text_at(row, "task") for row in ahead):
        return Place(own)
    named = _SESSION_NAME.search(text_at(header, "parentSession")) or _SESSION_NAME.search(folder)
    parent = named[1] if named else ""
    return Place(parent, own) if parent and parent != own else Place(own, "subagent")


def _typed(message: Json) -> str:
    """Return what the user said, "" if the program wrote it in his name."""
    if message.get("synthetic") or message.get("attribution") == "agent":
        return ""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = (_SKILL.sub("", text_of(part)) for part in parts)
    return "\n".join(text for text in texts if text.strip())


def _output(message: Json) -> str:
    text, code = text_of(message.get("output")), message.get("exitCode")
    return f"exit code: {code}\n{text}" if code else text
