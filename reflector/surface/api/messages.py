"""Messages of Anthropic's and OpenAI's forms as rows of the generic form, each with its id.

Most messages have no id of their own, and the list it stands in is given again and again.
A piece of a message (a text, a thought, a call) is therefore known by what it says and by how many
equal pieces stand before it in the list; a message with an `id` by that id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflector.core.cleaning import clean
from reflector.core.errors import UsageError
from reflector.harness.fields import (
    arguments_of,
    moment,
    object_at,
    objects,
    text_at,
    text_of,
)
from reflector.harness.lines import DEEPEST, too_deep

Json = dict[str, Any]

_ROLES = frozenset({"user", "assistant", "tool", "function"})
_UNHEARD = frozenset({"system", "developer"})
_NATIVE = ("id", "uuid", "message_id")
_TIMES = ("timestamp", "created_at")
_LONGEST_INTEGER = 10_000
"""Bits of the longest integer that is written in decimals: Python refuses to read long ones."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a message: `known_by` tells it from others, `row` is the generic form of it."""

    kind: str
    known_by: str
    row: Json


def rows(session: str, messages: Iterable[object]) -> Iterator[Json]:
    """Yield the rows of a conversation's messages, oldest first; system messages give none.

    Raises UsageError for what is no message, naming its place in the list.
    """
    counts: dict[str, int] = {}
    for index, given in enumerate(messages):
        message = _read(index, given)
        role = text_at(message, "role") if isinstance(message, dict) else ""
        if role in _UNHEARD:
            continue
        if role not in _ROLES:
            raise _no_message(index, message)
        yield from _named(session, message, list(_pieces(message)), counts)


def _read(index: int, given: object) -> Any:
    try:
        message = _plain(given)
    except RecursionError as error:
        raise _too_deep(index) from error
    if too_deep(message):
        raise _too_deep(index)
    return _as_message(message)


def _too_deep(index: int) -> UsageError:
    return UsageError(
        f"messages[{index}] is nested deeper than {DEEPEST} levels.",
        hint="Is there a list or a mapping in it that holds itself?",
        index=index,
    )


def _no_message(index: int, message: object) -> UsageError:
    role = clean(repr(message.get("role"))) if isinstance(message, dict) else ""
    kind = f"has the role {role}" if role else "is no mapping"
    return UsageError(
        f"messages[{index}] {kind[:80]}.",
        hint="A message is a mapping with `role` (user, assistant, tool, system) and `content`, or "
        "an object of the anthropic or openai package.",
        index=index,
    )


def _as_message(item: Any) -> Any:
    """Return an item of OpenAI's Responses as the message that says the same.

    Its messages have a role; calls and their outputs stand beside them. What the provider's own
    tools did (`web_search_call` and so on) has no form that is known to last: it says nothing here,
    like a system message.
    """
    if not isinstance(item, dict) or "role" in item or "type" not in item:
        return item
    call = {"id": item.get("call_id"), "function": item}
    match str(item["type"]):
        case "function_call" | "custom_tool_call":
            return {"role": "assistant", "id": item.get("id"), "tool_calls": [call]}
        case "function_call_output" | "custom_tool_call_output":
            result = item.get("output")
            return {"role": "tool", "tool_call_id": item.get("call_id"), "content": result}
        case _:
            return {"role": "system"}


def _plain(value: object) -> Any:
    """Return a message as JSON has it; objects of the SDKs know how to become that."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return hex(value)
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Iterable) and not hasattr(value, "model_dump"):
        return [_plain(each) for each in value]
    dump = getattr(value, "model_dump", None)
    return _plain(dump(mode="json", exclude_none=True)) if callable(dump) else str(value)


def _named(
    session: str, message: Json, pieces: Sequence[_Piece], counts: dict[str, int]
) -> Iterator[Json]:
    """Give each piece its id, and all of one message the same group."""
    native = next((str(message[name]) for name in _NATIVE if message.get(name)), "")
    at = next(filter(None, (moment(message.get(name)) for name in _TIMES)), "")
    group = ""
    for piece in pieces:
        # A message with an id keeps what was first said under it, whatever it says later.
        what = ["id", native, piece.kind] if native else [piece.kind, piece.known_by]
        key = _hash(session, *what)
        counts[key] = counts.get(key, 0) + 1
        name = _hash(session, *what, str(counts[key]))
        group = group or name
        more = {"timestamp": at} if at else {}
        yield {**piece.row, "id": f"m{name}", "message_id": f"g{group}", **more}


def _hash(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _pieces(message: Json) -> Iterator[_Piece]:
    match message["role"]:
        case "user":
            yield from _of_user(message.get("content"))
        case "assistant":
            yield from _of_assistant(message)
        case _:
            call = text_at(message, "tool_call_id", "name")
            yield _answered(call, message.get("content"))


def _of_user(content: object) -> Iterator[_Piece]:
    """Yield the results in a user's message, and what the user said as one text."""
    blocks = content if isinstance(content, list) else [content]
    said = [text_of(each) for each in blocks if not _is_result(each)]
    for block in objects(content):
        if _is_result(block):
            yield _answered(text_at(block, "tool_use_id"), block.get("content"))
    text = "\n".join(each for each in said if each.strip())
    if text:
        yield _Piece("user", text, {"role": "user", "content": text})


def _of_assistant(message: Json) -> Iterator[_Piece]:
    content = message.get("content")
    if thought := text_at(message, "reasoning_content", "reasoning"):
        yield _thought(thought)
    blocks = objects(content) if isinstance(content, list) else [{"text": content}]
    for block in blocks:
        kind = str(block.get("type") or "text")
        if kind.endswith("tool_use"):
            yield _called(text_at(block, "id"), block.get("name"), block.get("input"))
        elif _is_result(block):
            yield _answered(text_at(block, "tool_use_id"), block.get("content"))
        elif text := text_at(block, "thinking"):
            yield _thought(text)
        elif (text := text_at(block, "text", "refusal")).strip():
            yield _assistant("assistant", text, {"type": "text", "text": text})
    for call in objects(message.get("tool_calls")):
        function = object_at(call, "function") or object_at(call, "custom")
        given = function.get("arguments", function.get("input"))
        yield _called(text_at(call, "id"), function.get("name"), given)


def _thought(text: str) -> _Piece:
    return _assistant("reasoning", text, {"type": "thinking", "thinking": text})


def _called(call: str, name: object, given: object) -> _Piece:
    arguments = arguments_of(given)
    known_by = json.dumps([call, str(name), arguments])
    block = {"type": "tool_use", "id": call, "name": str(name or ""), "input": arguments}
    return _assistant("tool_call", known_by, block)


def _assistant(kind: str, known_by: str, block: Json) -> _Piece:
    return _Piece(kind, known_by, {"role": "assistant", "content": [block]})


def _answered(call: str, content: object) -> _Piece:
    text = text_of(content)
    row = {"role": "tool", "tool_call_id": call, "content": text}
    return _Piece("tool_result", json.dumps([call, text]), row)


def _is_result(block: object) -> bool:
    return isinstance(block, dict) and str(block.get("type")).endswith("tool_result")
