"""Takes standard output away from everybody but the protocol, down to what C code prints."""

from __future__ import annotations

import fcntl
import io
import os
import sys
from typing import TextIO

from reflector.core.errors import UsageError

_OUT, _ERR = 1, 2


def taken() -> TextIO:
    """Return the real standard output, and let whatever is printed from now on go to stderr.

    To be called before the first import of a library: a stray line in front of the protocol ends a
    session before it began. Raises UsageError when there is no standard output.
    """
    try:
        sys.stdout.flush()
        # Never 0 to 2: where one of those is closed, a plain copy would take its place.
        wire = fcntl.fcntl(_OUT, fcntl.F_DUPFD_CLOEXEC, 3)
        _divert()
    except OSError as error:
        raise UsageError(
            f"The MCP server needs its standard input and output: {error.strerror}.",
            hint="It is started by an agent's program. `reflector mcp --http` needs neither.",
        ) from error
    return io.TextIOWrapper(os.fdopen(wire, "wb"), encoding="utf-8", newline="\n")


def _divert() -> None:
    try:
        os.dup2(_ERR, _OUT)
    except OSError:  # there is no standard error either: nobody wants to hear it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _OUT)
        os.close(nowhere)
