"""A journal entry, its identity, and what counts as a step, a canonical row, a message group."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from enum import StrEnum

_encoded = json.JSONEncoder(ensure_ascii=False).encode
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\Z")


class Kind(StrEnum):
    """What an entry is."""

    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ConversationKey:
    """Which conversation: a harness, its session, and the agent inside it (`""` = the main one)."""

    harness: str
    session: str
    agent: str = ""

    def __str__(self) -> str:
        """Write the public id, `harness/session` or `harness/session/agent`."""
        return "/".join(part for part in (self.harness, self.session, self.agent) if part)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done. Never changes once it is appended.

    `text` is empty for tool calls; `tool`, `arguments`, `result` are empty for everything else.
    `result` is None for a call whose result never came. `at` is RFC 3339 UTC, or "" if the source
    gives no time.
    """

    id: str
    message_id: str
    kind: Kind
    text: str = ""
    tool: str = ""
    arguments: str = ""
    result: str | None = None
    at: str = ""

    @property
    def canonical(self) -> bool:
        """Whether this is a user or assistant row with non-blank text."""
        return self.kind in (Kind.USER, Kind.ASSISTANT) and bool(self.text.strip())

    @property
    def size(self) -> int:
        """Return the bytes of this entry when it is serialised as JSON in UTF-8."""
        told = _encoded(self.as_json())
        return len(told) if told.isascii() else len(told.encode("utf-8", "replace"))

    def as_json(self) -> dict[str, str | None]:
        """Return the entry as a JSON object without its empty fields."""
        pairs: dict[str, str | None] = {
            "id": self.id,
            "message_id": self.message_id,
            "kind": self.kind.value,
        }
        if self.kind is Kind.TOOL_CALL:
            pairs |= {"tool": self.tool, "arguments": self.arguments, "result": self.result}
        else:
            pairs["text"] = self.text
        return pairs | ({"at": self.at} if self.at else {})


def safe_part(native: str) -> str:
    """Return a foreign id as it is when it is plain, else as a hash of it.

    Foreign ids travel into commit trailers, file names and terminals: a newline, a slash or a
    control character in one must not. `..` would end a range in a trailer.
    """
    if _PLAIN.match(native) and ".." not in native:
        return native
    return "h" + hashlib.sha256(native.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def native_entry_id(harness: str, native: str, block: int) -> str:
    """Return the id of a block of a record that its harness gave an id.

    The conversation is left out on purpose: a forked session copies records under their own ids,
    and must add only its own.
    """
    return f"{harness}:{safe_part(native)}:{block}"


def hashed_entry_id(key: ConversationKey, row_hash: str, ordinal: int, block: int) -> str:
    """Return the id of a block of a record without an id of its own.

    `row_hash` is a hash of the row's bytes, `ordinal` counts equal rows before it in its source.
    """
    owner = hashlib.sha256(str(key).encode()).hexdigest()[:12]
    return f"{key.harness}:{owner}.{row_hash}.{ordinal}:{block}"
