"""The server over streamable HTTP, on this machine's own address alone."""

from __future__ import annotations

import socket

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from reflector.core.errors import BusyError, UsageError
from reflector.surface.mcp.guard import Gate, Guarded
from reflector.surface.mcp.server import Server

ADDRESS = "127.0.0.1"
PATH = "/mcp"
_GRACE_SECONDS = 5


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone; 0 takes a free port.

    Raises BusyError when the port is taken, UsageError when it cannot be had.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((ADDRESS, port))
        made.listen(64)
    except (OSError, OverflowError) as error:
        made.close()
        if isinstance(error, PermissionError | OverflowError):
            raise UsageError(
                f"The port {port} cannot be had: {str(error).rstrip('.')}.",
                hint="Choose one from 1024 to 65535.",
            ) from error
        raise BusyError(
            f"The port {port} is taken.", hint="Choose another with --port; 0 takes a free one."
        ) from error
    return made


def serve(server: Server, made: socket.socket, token: str) -> None:
    """Serve until told to stop by a signal."""
    gate = Gate(token, made.getsockname()[1])
    # The gate has looked at Host and Origin, and knows the port; a second list would only differ.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=unchecked)
    config = uvicorn.Config(
        Guarded(app, gate),
        log_config=None,
        ws="none",
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[made])
