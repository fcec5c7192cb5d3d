"""A chat-completions server on loopback that plays a script and keeps what it was asked.

Every tool call of an assistant message must be answered before the next request: what does not
hold is kept in `violations`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One assistant message: text, and calls as (name, arguments)."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


@dataclass
class Script:
    """What the server answers, in order; the last reply is repeated."""

    replies: Sequence[Reply]
    requests: list[Json] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, request: Json) -> tuple[int, Reply]:
        with self._lock:
            number = len(self.requests)
            self.violations += unanswered(request["messages"])
            self.requests.append(request)
        return number, self.replies[min(number, len(self.replies) - 1)]


def unanswered(messages: Sequence[Json]) -> Iterator[str]:
    asked = [call["id"] for each in messages for call in each.get("tool_calls") or ()]
    answered = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    if asked != answered:
        yield f"calls {asked} were answered by {answered}"


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serve a script; yield the base URL, as the openai package takes it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.script = script  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """Plays a reply."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number, reply = self.server.script.next(body)  # type: ignore[attr-defined]
        raw = json.dumps(_completion(number, reply, body["model"])).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(raw)
        self.close_connection = True


def _completion(number: int, reply: Reply, model: str) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for index, (name, given) in enumerate(reply.calls)
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if reply.calls else "stop",
        "logprobs": None,
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }
