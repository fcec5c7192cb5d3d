"""The conversation with a model: it only grows, so that what was sent before stays cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]
_MARK = {"cache_control": {"type": "ephemeral"}}


@dataclass(slots=True)
class Talk:
    """Everything that was said. `system` and `tools` are the same in every request."""

    system: str
    tools: Sequence[Block]
    messages: list[Block] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a message of ours."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def heard(self, content: Sequence[Block]) -> None:
        """Add what the model said, unchanged: thinking blocks carry signatures."""
        self.messages.append({"role": "assistant", "content": list(content)})

    def answer(self, results: Sequence[Block], note: str = "") -> None:
        """Answer every tool call of the last message at once, results first."""
        more = [{"type": "text", "text": note}] if note else []
        self.messages.append({"role": "user", "content": [*results, *more]})

    def request(self) -> Block:
        """Return system, tools and messages with the cache marks: at most three.

        The marks stand on copies, so that a later request repeats the same messages.
        """
        return {
            "system": [{"type": "text", "text": self.system} | _MARK],
            "tools": [*self.tools[:-1], *(tool | _MARK for tool in self.tools[-1:])],
            "messages": [*self.messages[:-1], *map(_marked, self.messages[-1:])],
        }


def result(call: str, text: str, *, error: bool = False) -> Block:
    """Return the answer to one tool call."""
    block: Block = {"type": "tool_result", "tool_use_id": call, "content": text or "(nothing)"}
    return block | {"is_error": True} if error else block


def _marked(message: Mapping[str, Any]) -> Block:
    """Mark the newest tool result, or the last block of a message without one."""
    content = list(message["content"])
    results = [i for i, block in enumerate(content) if block["type"] == "tool_result"]
    at = results[-1] if results else len(content) - 1
    content[at] = content[at] | _MARK
    return {**message, "content": content}
