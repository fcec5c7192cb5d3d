"""A passphrase from a file, from stdin, or typed by a person: never from an argument."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

from reflector.core.errors import UsageError
from reflector.surface.cli.output import Output

_MOST = 4096


def add_file(parser: argparse._ActionsContainer) -> None:
    """Add the file that holds it."""
    parser.add_argument(
        "--passphrase-file",
        metavar="F",
        help="a file whose first line is the passphrase; - reads stdin",
    )


def chosen(args: argparse.Namespace, out: Output) -> str:
    """Return the passphrase that a new pack gets, "" if none is wanted. A typed one is typed twice."""
    if args.passphrase_file is not None:
        return _from_file(args.passphrase_file)
    if not args.passphrase:
        return ""
    first = _typed("Passphrase for this pack: ", out)
    if not first or _typed("The same again: ", out) != first:
        raise UsageError(
            "The passphrase was empty, or not the same twice.",
            hint="Nothing was written; type it again.",
        )
    return first


def asked(args: argparse.Namespace, out: Output) -> str:
    """Return the passphrase that opens a pack."""
    if args.passphrase_file is not None:
        return _from_file(args.passphrase_file)
    return _typed("Passphrase of this pack: ", out)


def _typed(question: str, out: Output) -> str:
    if out.json or not sys.stdin.isatty():
        raise UsageError(
            "A passphrase is needed, and there is no terminal to ask on.",
            hint="`--passphrase-file F` takes it from a file, `--passphrase-file -` from stdin.",
        )
    try:
        return getpass.getpass(question)
    except EOFError as error:  # Ctrl-D
        raise UsageError("No passphrase was typed.", hint="Nothing was changed.") from error


def _from_file(name: str) -> str:
    try:
        if name == "-":
            raw = sys.stdin.buffer.readline(_MOST)
        else:
            with Path(name).open("rb") as stream:
                raw = stream.readline(_MOST)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be read: {error}.", hint="Name a file of text.") from error
    found = raw.decode("utf-8", "surrogateescape").rstrip("\r\n")
    if not found:
        raise UsageError(f"{name} has no passphrase in its first line.", hint="Write one there.")
    return found
