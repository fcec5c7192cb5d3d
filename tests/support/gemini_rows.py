"""Builds rows of Gemini CLI, and what a journal holds after reading."""

from __future__ import annotations

from reflector.core.entry import Entry
from reflector.harness.reading import Appended, Hidden

AT = "2026-01-02T03:04:05.678Z"
SESSION = "0f9a3c7e-1b2d-4c5e-8f60-718293a4b5c6"


def uid(name):
    """Make an id as Gemini CLI makes them, different for every name."""
    return f"{name.encode().hex():0>8}-0000-4000-8000-000000000000"


def header(**more):
    row = {"sessionId": SESSION, "projectHash": "9c88", "startTime": AT, "lastUpdated": AT}
    return row | {"kind": "main"} | more


def said(name, kind, content, **more):
    return {"id": uid(name), "timestamp": AT, "type": kind, "content": content} | more


def typed(name, text, **more):
    return said(name, "user", [{"text": text}], **more)


def answered(name, text="", *calls, **more):
    return said(name, "gemini", text, **({"toolCalls": list(calls)} if calls else {}), **more)


def call(native, output=None, status="success", **more):
    row = {"id": native, "name": "read_file", "args": {"path": native}, "status": status}
    if output is not None:
        row["result"] = [response(native, output)]
    return row | more


def response(native, output):
    return {"functionResponse": {"id": native, "name": "read_file", "response": {"output": output}}}


def responded(name, native, output):
    return said(name, "user", [response(native, output)])


def put(**values):
    return {"$set": values}


def rewound(name):
    return {"$rewindTo": uid(name)}


def journal(seen):
    """Return the entries a journal shows: the first of every id, without hidden messages."""
    entries: dict[str, Entry] = {}
    hidden: set[str] = set()
    for record in seen.records:
        if isinstance(record, Appended):
            entries.setdefault(record.entry.id, record.entry)
        elif isinstance(record, Hidden):
            hidden.add(record.message_id)
    return [entry for entry in entries.values() if entry.message_id not in hidden]
