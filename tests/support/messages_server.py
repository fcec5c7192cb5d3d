"""A Messages API server on loopback that plays a script: answers, stalls, cuts, overloads, lies.

Every request is held against what came before: the messages are repeated byte for byte, cache
marks aside; at most four cache marks, the last on the newest tool result; every tool call of an
assistant message is answered in the next one. What does not hold is kept in `violations`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from time import monotonic
from typing import Any

Block = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer. `fault` is what goes wrong with it: see `Handler`."""

    content: Sequence[Block] = ()
    stop: str = "end_turn"
    status: int = 200
    error: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


def says(text: str, **more: Any) -> Reply:
    return Reply([{"type": "text", "text": text}], **more)


def calls(*tools: tuple[str, Mapping[str, Any]], text: str = "", **more: Any) -> Reply:
    """Answer with tool calls; ids are given by the server when it plays the reply."""
    content: list[Block] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "name": name, "input": dict(given)} for name, given in tools]
    return Reply(content, **({"stop": "tool_use"} | more))


def fails(status: int, error: str, message: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, error=error, message=message or error, headers=named)


@dataclass
class Script:
    """What the server answers, in order, and what it was asked. The last reply is repeated."""

    replies: Sequence[Reply]
    requests: list[Block] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        with self._lock:
            number = len(self.requests)
            self.violations += broken(self.requests, request)
            self.requests.append(request)
            self.keys.append(key)
            self.heard.append(monotonic())
        return number, self.replies[min(number, len(self.replies) - 1)]


def broken(before: Sequence[Block], request: Block) -> Iterator[str]:
    """Yield every promise that a request does not keep."""
    marks = len(list(_marks(request)))
    if marks > 4:
        yield f"{marks} cache marks"
    for old in before[-1:]:
        kept = plain(old["messages"])
        if plain(request["messages"])[: len(kept)] != kept:
            yield "a message that was sent before is not the same"
        if any(plain(old[part]) != plain(request[part]) for part in ("system", "tools")):
            yield "the stable prefix changed"
    for asked, answered in pairwise(request["messages"]):
        yield from _unanswered(asked, answered)
    newest = _of(request["messages"][-1], "tool_result")
    if newest and "cache_control" not in newest[-1]:
        yield "the newest tool result carries no cache mark"


def _unanswered(asked: Block, answered: Block) -> Iterator[str]:
    ids = [each["id"] for each in _of(asked, "tool_use")]
    back = [each["tool_use_id"] for each in _of(answered, "tool_result")]
    if asked["role"] == answered["role"]:
        yield "two messages of one side in a row"
    if asked["role"] == "assistant" and ids != back:
        yield f"calls {ids} were answered by {back}"


def _of(message: Block, kind: str) -> list[Block]:
    return [each for each in message["content"] if each["type"] == kind]


def plain(value: Any) -> Any:
    """Take the cache marks away."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name != "cache_control"}
    return [plain(each) for each in value] if isinstance(value, list) else value


def _marks(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from [1] if "cache_control" in value else []
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _marks(each)


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serve a script; yield the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.script, server.closing = script, threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.closing.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """Plays a reply. Faults: `stall` sends nothing, `cut` breaks off in the middle of the stream,
    `overload` sends an error event inside the stream, `garbage` sends what is no JSON.
    """

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("authorization") or self.headers.get("x-api-key") or ""
        number, reply = self.server.script.next(body, key)  # type: ignore[attr-defined]
        if reply.fault == "stall":
            self.server.closing.wait(60)  # type: ignore[attr-defined]
            self.close_connection = True
        elif reply.status != 200:
            fault = {"type": reply.error, "message": reply.message}
            self._send(reply, json.dumps({"type": "error", "error": fault}).encode())
        elif reply.fault == "garbage":
            self._send(reply, b"<html>not this</html>", "text/html")
        else:
            named = replace(reply, content=_named(reply.content, body))
            self._stream(list(_events(named, body["model"], number)), reply)

    def _send(self, reply: Reply, raw: bytes, kind: str = "application/json") -> None:
        self.send_response(reply.status)
        for name, value in {"content-type": kind, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, events: list[Block], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        if reply.fault in ("cut", "overload"):
            events = events[: max(2, len(events) // 2)]
        if reply.fault == "overload":
            fault = {"type": "overloaded_error", "message": "Overloaded"}
            events.append({"type": "error", "error": fault})
        self.server.script.answered.append(monotonic())  # type: ignore[attr-defined]
        for event in events:
            line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            self.wfile.write(line.encode())
        self.wfile.flush()
        self.close_connection = True


def _named(content: Sequence[Block], request: Block) -> Sequence[Block]:
    """Put ids of entries, as the first message shows them, for `$ENTRY1`, `$SAID1`, `$TOOL1`, …"""
    text = json.dumps(list(content))
    first = request["messages"][0]["content"][0]["text"]
    for word, kind in (("ENTRY", "user"), ("SAID", "assistant"), ("TOOL", "tool_call")):
        ids = re.findall(rf"^\[entry (\S+)\] {kind}", first, re.MULTILINE)
        for number in range(len(ids), 0, -1):
            text = text.replace(f"${word}{number}", ids[number - 1])
    named: Sequence[Block] = json.loads(text)
    return named


def _events(reply: Reply, model: str, number: int) -> Iterator[Block]:
    usage = {"input_tokens": 100, "output_tokens": 20} | dict(reply.usage)
    message: Block = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(reply.content):
        yield from _block_events(block, index, number)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reply.stop, "stop_sequence": None},
        "usage": usage,
    }
    yield {"type": "message_stop"}


def _block_events(block: Block, index: int, number: int) -> Iterator[Block]:
    if block["type"] == "tool_use":
        start = {**block, "id": f"toolu_{number}_{index}", "input": {}}
        text = json.dumps(block["input"])
        pieces = [text[at : at + 40] for at in range(0, len(text), 40)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    else:
        start = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": block["text"]}]
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
