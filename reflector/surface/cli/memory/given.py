"""What every command that changes the memory is given, and how it tells what came of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reflector.core.errors import DocumentError, UsageError
from reflector.memory.document import decode
from reflector.runtime.writing import Written
from reflector.surface.cli.output import Output, safe

_MOST = 4 * 1024 * 1024


def add_reason(parser: argparse.ArgumentParser) -> None:
    """Add why: it becomes the subject of the commit."""
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="why: one line, the subject of the commit"
    )


def add_text(parser: argparse.ArgumentParser, what: str, *flags: str) -> None:
    """Add a text that is an argument, a file, or stdin."""
    name, file = flags or ("text", "--file")
    parser.add_argument(
        name, nargs=None if flags else "?", metavar="TEXT", help=f"{what}; - reads stdin"
    )
    parser.add_argument(file, metavar="F", help=f"a file that holds {what}; - reads stdin")


def text(given: str | None, file: str | None, what: str) -> str:
    """Return the text, from wherever it comes. Raises UsageError, or DocumentError if not UTF-8."""
    if (given is None) == (file is None):
        raise UsageError(f"Give {what} once.", hint="As an argument, as a file, or - for stdin.")
    if given is not None and given != "-":
        return given
    chosen = None if file in (None, "-") else file
    name, raw = chosen or "stdin", _read(chosen)
    if len(raw) > _MOST:
        raise DocumentError(f"{name} has more than {_MOST} bytes.", hint="Give a smaller text.")
    return decode(name, raw)


def _read(file: str | None) -> bytes:
    """Read a file, or stdin without one; a bit more than the most, so that too much is seen."""
    if file is None:
        return sys.stdin.buffer.read(_MOST + 1)
    try:
        with Path(file).open("rb") as stream:
            return stream.read(_MOST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file} cannot be read: {why}.", hint="Name a file of text.") from error


def tell(out: Output, done: Written) -> int:
    """Say what was committed, and of what to be aware."""
    out.say(f"Committed {done.commit[:12]}", *(f"  {safe(path)}" for path in done.paths))
    for each in done.warnings:
        out.say(
            f"  {out.style('note', 'yellow')} {safe(f'{each.path}:{each.line} {each.message}')}"
        )
    out.object(
        {
            "commit": done.commit,
            "paths": list(done.paths),
            "warnings": [each.as_json() for each in done.warnings],
        }
    )
    return 0
