"""Builds rows of pi and oh-my-pi sessions."""

from __future__ import annotations

import json
from itertools import count

SESSION = "01a22bf8-3314-7059-9e04-78ad2e89db6c"
OTHER = "01a22bf9-0000-7000-8000-000000000001"
SLOT = 256


def header(session=SESSION, **more):
    row = {"type": "session", "version": 3, "id": session, "timestamp": "2026-11-30T10:00:00.000Z"}
    return row | {"cwd": "/home/dev/proj"} | more


def title(text, at="2026-11-30T10:00:00.000Z"):
    """Write the first line of oh-my-pi: as wide with any title."""
    row = {"type": "title", "v": 1, "title": text, "source": "auto", "updatedAt": at, "pad": ""}
    bare = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
    row["pad"] = " " * (SLOT - 1 - len(bare))
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Tree:
    """A session that is being written: every row is the child of the one before it."""

    def __init__(self):
        self.leaf = None
        self._number = count(1)

    def row(self, kind, **more):
        number = next(self._number)
        own = f"{number:08x}"
        at = f"2026-11-30T10:{number // 60:02d}:{number % 60:02d}.{number:03d}Z"
        row = {"type": kind, "id": own, "parentId": self.leaf, "timestamp": at} | more
        self.leaf = own
        return row

    def message(self, role, content, **more):
        return self.row("message", message={"role": role, "content": content} | more)

    def user(self, text, **more):
        return self.message("user", [{"type": "text", "text": text}], **more)

    def assistant(self, *blocks, stop="stop", **more):
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        return self.message("assistant", content, stopReason=stop, **more)

    def result(self, call, text, **more):
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, toolCallId=call, toolName="bash", **more)


def call(number, **given):
    return {"type": "toolCall", "id": number, "name": "bash", "arguments": given}


def thinking(text):
    return {"type": "thinking", "thinking": text, "thinkingSignature": "bW9jaw=="}


def old(row):
    """Return a row as the first version wrote it: without an id."""
    return {name: value for name, value in row.items() if name not in ("id", "parentId")}


def migrated(row, own):
    """Return a row of the first version as a later pi writes it anew: with an id at its end."""
    return old(row) | {"id": own, "parentId": None}
