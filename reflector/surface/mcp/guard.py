"""Who may speak to the HTTP server: a decision over a request's headers, before anything else."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered: the status, and what the error object says."""

    status: int
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What a request has to show: one of our own names as its host, no foreign page, the token."""

    token: str
    port: int

    def refusal(self, headers: Headers) -> Refusal | None:
        """Return why a request is refused, None when it may pass.

        A page whose name is made to point at this machine sends its own name as the host, and a
        page of another site its origin, with whatever a browser would add by itself.
        """
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts():
            return _FOREIGN_HOST
        if any(each.lower() not in self._origins() for each in given.get(b"origin", [])):
            return _FOREIGN_ORIGIN
        shown = given.get(b"authorization", [])
        if len(shown) != 1 or not self._is_ours(shown[0]):
            return _NO_TOKEN
        return None

    def _hosts(self) -> list[bytes]:
        names = ("127.0.0.1", "localhost")
        return [f"{name}:{self.port}".encode() for name in names]

    def _origins(self) -> list[bytes]:
        return [b"http://" + host for host in self._hosts()]

    def _is_ours(self, shown: bytes) -> bool:
        scheme, _, token = shown.partition(b" ")
        same = hmac.compare_digest(token.strip(), self.token.encode())
        return same and scheme.lower() == b"bearer"


_FOREIGN_HOST = Refusal(
    421,
    "foreign_host",
    "This server answers to its own address alone.",
    "Use the address that `reflector mcp --http` printed.",
)
_FOREIGN_ORIGIN = Refusal(
    403,
    "foreign_origin",
    "A page of another origin may not speak to this server.",
    "Connect with an MCP client, not from a page.",
)
_NO_TOKEN = Refusal(
    401,
    "no_token",
    "The request shows no valid token.",
    "Send `Authorization: Bearer TOKEN` with the token from the file that `reflector mcp --http` "
    "named.",
)


class Guarded:
    """An application behind the gate."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        """Put the gate before an application."""
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here; what is no request of HTTP ends here as well."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = self._gate.refusal(scope["headers"])
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await _answer(refusal, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


async def _answer(refusal: Refusal, send: Send) -> None:
    error = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
