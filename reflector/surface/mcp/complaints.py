"""What libraries of the server have to complain about: plain lines on standard error, no secrets."""

from __future__ import annotations

import asyncio
import logging
import sys

import anyio
from starlette.requests import ClientDisconnect

from reflector.core.cleaning import clean
from reflector.surface.cli.output import safe

_LEFT = (
    asyncio.CancelledError,
    ClientDisconnect,
    ConnectionError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)
"""How it shows that a client went away, or that the server itself ends: nobody's fault."""


def plain() -> None:
    """Let every library complain in plain lines; to be called before one sets up its own way."""
    writer = _Plain()
    writer.addFilter(_is_fault)
    logging.basicConfig(level=logging.WARNING, handlers=[writer], force=True)


def _is_fault(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _LEFT))


class _Plain(logging.Handler):
    """Writes a line for a complaint, and the traceback of an error that nobody expected."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it. Standard error that is full or gone loses it."""
        try:
            told = logging.Formatter("%(message)s").format(record)
            sys.stderr.write("\n".join(map(safe, clean(told).splitlines())) + "\n")
        except (OSError, ValueError):  # closed, or full
            return
