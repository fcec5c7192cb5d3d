"""The machine forms that take values from outside: messages for an envelope, candidates to admit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflector.core.decision import Message
from reflector.core.errors import UsageError
from reflector.pipelines.decisions.admission import Admitted, admit
from reflector.pipelines.decisions.envelope import Envelope, envelope


def enveloped(given: object) -> Envelope | None:
    """Return the envelope of `{"messages": […], "current"}`. Raises UsageError for another form."""
    if not isinstance(given, Mapping) or not isinstance(given.get("messages"), list):
        raise _form('{"messages": [{"role", "content"}, …], "current": INDEX or null}')
    current = given.get("current")
    if current is not None and type(current) is not int:
        raise _form("current as the index of a message, from 0, or null")
    return envelope([_message(each) for each in given["messages"]], current)


def admitted(given: object) -> Admitted:
    """Judge `{"prompt", "candidates": […]}`. Raises UsageError for another form."""
    if (
        not isinstance(given, Mapping)
        or not isinstance(given.get("prompt"), str)
        or not isinstance(given.get("candidates"), list)
    ):
        raise _form('{"prompt": TEXT, "candidates": [{…}, …]}')
    return admit(given["prompt"], given["candidates"])


def _message(given: object) -> Message:
    """Read one message: a text, or blocks of which only text counts. What is no text is none."""
    if not isinstance(given, Mapping):
        return Message("", "")
    content = given.get("content")
    blocks: list[Any] = content if isinstance(content, list) else []
    texts = [
        each["text"]
        for each in blocks
        if isinstance(each, Mapping)
        and each.get("type") == "text"
        and isinstance(each.get("text"), str)
    ]
    text = content if isinstance(content, str) else "\n".join(texts)
    role = given.get("role")
    return Message(role if isinstance(role, str) else "", text)


def _form(wanted: str) -> UsageError:
    return UsageError("This is not the JSON object that the command takes.", hint=f"Give {wanted}.")
