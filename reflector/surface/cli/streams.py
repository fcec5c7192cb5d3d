"""Standard output and standard error as they really are: closed, full, gone, not speaking UTF-8."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO

from reflector.core.cleaning import clean
from reflector.core.errors import ReflectorError


class OutputError(ReflectorError):
    """What a command had to say could not be written; what it did is done."""

    code = "output_failed"


def prepare() -> None:
    """Make the streams usable: a closed one is empty or swallows, a narrow one shows what it cannot write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # started with that descriptor closed
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(text: str) -> None:
    """Write to standard output, without secrets.

    Raises OutputError, or BrokenPipeError when the reader left.
    """
    tell_cleaned(clean(text))


def tell_cleaned(text: str) -> None:
    """Write what holds no secret any more to standard output. Raises as `tell` does."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failed(error) from error


def tell_bytes(raw: bytes) -> None:
    """Write bytes that hold no secret any more to standard output. Raises as `tell` does."""
    flush()
    try:
        # A pipe takes part of a large write: only the buffered layer goes on until all is written.
        sys.stdout.buffer.write(raw)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failed(error) from error


def mutter(text: str) -> None:
    """Write to standard error, without secrets; that nobody reads it changes nothing else."""
    try:
        sys.stderr.write(clean(text))
        sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


def flush() -> None:
    """Let standard output go out. Raises as `tell` does."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failed(error) from error


def abandon(stream: TextIO) -> None:
    """Let nothing more reach a stream, so that the interpreter's own flush at exit is harmless."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _failed(error: OSError) -> OutputError:
    abandon(sys.stdout)
    return OutputError(
        f"The output could not be written: {error.strerror}.",
        hint="What the command did is done; run it again, or `reflector status`, to see it.",
    )
