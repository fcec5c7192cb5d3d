"""The protocol on standard input and output."""

from __future__ import annotations

import os
from typing import TextIO

import anyio
from mcp.server.stdio import stdio_server

from reflector.surface.mcp.server import Server


def serve(server: Server, wire: TextIO) -> None:
    """Speak the protocol on standard input and the wire until the client hangs up."""
    try:
        anyio.run(_serve, server, wire)
    except* BrokenPipeError:
        # It hung up without waiting for an answer. What Python still holds for it has to go nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, wire.fileno())
        os.close(nowhere)


async def _serve(server: Server, wire: TextIO) -> None:
    inner = server._lowlevel_server  # noqa: SLF001 - `run_stdio_async` takes no stream
    async with stdio_server(stdout=anyio.wrap_file(wire)) as (reads, writes):
        await inner.run(reads, writes, inner.create_initialization_options())
