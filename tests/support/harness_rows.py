"""Builds rows of every harness, and reads them at once or while their file grows."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from itertools import pairwise

from reflector.core.errors import TranscriptError
from reflector.harness.reading import About, Appended, Position, Record, open_source

AT = "2026-01-02T03:04:05.678Z"


@dataclass
class Read:
    """Everything that reading gave, over all batches."""

    records: list[Record] = field(default_factory=list)
    bad_lines: int = 0
    skipped: int = 0
    position: Position = field(default_factory=Position)

    @property
    def entries(self):
        return [record.entry for record in self.records if isinstance(record, Appended)]

    @property
    def ids(self):
        return [entry.id for entry in self.entries]

    @property
    def lasting(self):
        """What must be the same however a source is read."""
        return [record for record in self.records if not isinstance(record, About)]

    def of(self, kind):
        return [record for record in self.records if isinstance(record, kind)]


def lines(*rows, end="\n"):
    """Write rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + end for row in rows).encode()


def read(
    data: bytes,
    stem: str = "file",
    *,
    read: Read | None = None,
    rows_per_batch: int = 1000,
    settled: bool = False,
) -> Read:
    """Read on from where an earlier reading stopped (from the start without one)."""
    read = read or Read()
    source = open_source(io.BytesIO(data), stem)
    for batch in source.batches(read.position, rows_per_batch, settled=settled):
        read.records += batch.records
        read.bad_lines += batch.bad_lines
        read.skipped += batch.skipped
        read.position = read.position.moved(batch.position)
    return read


def read_growing(data: bytes, cuts, stem="file", rows_per_batch=1000) -> Read:
    """Read a file at each of these lengths, then whole."""
    result = Read()
    for _, cut in pairwise([0, *sorted(cuts), len(data)]):
        try:
            read(data[:cut], stem, read=result, rows_per_batch=rows_per_batch)
        except TranscriptError:
            continue  # not yet recognisable
    return result


def user(uuid, text, **more):
    return _claude("user", uuid, {"role": "user", "content": text}, more)


def assistant(uuid, *blocks, message="m1", **more):
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    body = {"role": "assistant", "id": message, "model": "claude", "content": content}
    return _claude("assistant", uuid, body, more)


def tool_use(call, name="Bash", **given):
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(uuid, *answers, **more):
    """A row of tool results, each a pair of call id and content."""
    content = [
        {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in answers
    ]
    return user(uuid, content, **more)


def boundary(uuid, **more):
    return _claude("system", uuid, {}, {"subtype": "compact_boundary", **more})


def _claude(kind, uuid, message, more):
    row = {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s1",
        "timestamp": AT,
        "cwd": "/home/dev/project",
        "isSidechain": False,
        "message": message,
    }
    return row | more


def meta(session="01234567-89ab-7cde-8f01-23456789abcd", **more):
    return codex("session_meta", id=session, cwd="/home/dev/project", source="cli", **more)


def codex(kind, **payload):
    return {"timestamp": AT, "type": kind, "payload": payload}


def item(kind, **payload):
    return codex("response_item") | {"payload": {"type": kind, **payload}}


def spoke(role, text, **more):
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}], **more)
