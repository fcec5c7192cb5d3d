"""The generic form: one chat message per line, as OpenAI's or Anthropic's interfaces write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reflector.core.entry import Kind
from reflector.harness.events import Answered, Called, Described, Event, Fold, Json, Place, Said
from reflector.harness.fields import (
    arguments_of,
    moment,
    object_at,
    objects,
    scoped,
    text_at,
    text_of,
)

HARNESS = "jsonl"

_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_SESSION = ("session_id", "conversation_id")


class Jsonl:
    """The adapter of the generic form."""

    @property
    def harness(self) -> str:
        """Return the harness name, as in conversation ids."""
        return HARNESS

    def recognises(self, ahead: Sequence[Json]) -> bool:
        """Tell whether the first row, or the one behind a row that names the session, speaks."""
        if not ahead:
            return False
        if _is_message(ahead[0]):
            return True
        named = bool(_session(ahead[0])) and "role" not in ahead[0]
        return named and len(ahead) > 1 and _is_message(ahead[1])

    def fold(self, ahead: Sequence[Json], stem: str) -> Fold:
        """Return a fresh fold for a file with this head and this file name without its suffix."""
        return _Chat(ahead, stem).events


def _is_message(row: Json) -> bool:
    return str(row.get("role")) in _ROLES and any(
        name in row for name in ("content", "tool_calls", "function_call")
    )


def _session(row: Json) -> str:
    value = next((row[name] for name in _SESSION if row.get(name)), "")
    return str(value) if isinstance(value, str | int) else ""


class _Chat:
    """What must be remembered between the rows of one file."""

    def __init__(self, ahead: Sequence[Json], stem: str) -> None:
        self._first = ahead[0] if ahead else {}
        self._place = Place(_session(self._first) or stem)
        self._introduced = False

    def events(self, row: Json) -> Iterator[Event]:
        """Yield the events of one row; system and developer rows have none."""
        if not self._introduced:
            self._introduced = True
            about = Described(
                self._place, cwd=text_at(self._first, "cwd"), title=text_at(self._first, "title")
            )
            if about.cwd or about.title:
                yield about
        at = moment(row.get("timestamp") or row.get("created_at"))
        match row.get("role"):
            case "user":
                yield from self._user(row, at)
            case "assistant":
                yield from self._assistant(row, at)
            case "tool" | "function":
                call = text_at(row, "tool_call_id", "name")
                yield Answered(self._place, call, text_of(row.get("content")), at)
            case _:
                return

    def _record(self, row: Json) -> str | None:
        native = next((row[name] for name in ("uuid", "id", "message_id") if row.get(name)), None)
        return None if native is None else scoped(self._place.session, str(native))

    def _user(self, row: Json, at: str) -> Iterator[Event]:
        content = row.get("content")
        yield from self._results(objects(content), at)
        blocks = content if isinstance(content, list) else [content]
        texts = (text_of(block) for block in blocks if not _is_result(block))
        text = "\n".join(text for text in texts if text.strip())
        if text:
            group = text_at(row, "message_id")
            yield Said(self._place, Kind.USER, text, self._record(row), message=group, at=at)

    def _assistant(self, row: Json, at: str) -> Iterator[Event]:
        record, group = self._record(row), text_at(row, "message_id")
        blocks = _blocks(row)
        for index, block in enumerate(blocks):
            if str(block.get("type")).endswith("tool_use"):
                call, tool = text_at(block, "id"), text_at(block, "name")
                arguments = arguments_of(block.get("input"))
                yield Called(self._place, call, tool, arguments, record, index, group, at)
            elif not _is_result(block):
                thought = text_at(block, "thinking")
                kind = Kind.REASONING if thought else Kind.ASSISTANT
                text = thought or text_at(block, "text", "refusal")
                if text.strip():
                    yield Said(self._place, kind, text, record, index, group, at)
        yield from self._results(blocks, at)

    def _results(self, blocks: Sequence[Json], at: str) -> Iterator[Event]:
        for block in blocks:
            if _is_result(block):
                result = text_of(block.get("content"))
                yield Answered(self._place, text_at(block, "tool_use_id"), result, at)


def _is_result(block: object) -> bool:
    return isinstance(block, dict) and str(block.get("type")).endswith("tool_result")


def _blocks(row: Json) -> list[Json]:
    """Return an assistant's message as blocks of Anthropic's form, whatever form it came in."""
    content = row.get("content")
    blocks: list[Json] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else [*objects(content)]
    )
    if thought := text_at(row, "reasoning_content", "reasoning"):
        blocks.insert(0, {"type": "thinking", "thinking": thought})
    blocks += (
        _tool_use(object_at(call, "function") or call, text_at(call, "id"))
        for call in objects(row.get("tool_calls"))
    )
    if legacy := object_at(row, "function_call"):
        blocks.append(_tool_use(legacy, text_at(legacy, "name")))
    return blocks


def _tool_use(function: Json, call: str) -> Json:
    return {
        "type": "tool_use",
        "id": call,
        "name": function.get("name"),
        "input": function.get("arguments"),
    }
