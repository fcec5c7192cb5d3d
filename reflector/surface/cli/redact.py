"""`reflector redact`."""

from __future__ import annotations

import argparse
import sys

from reflector.core.redact import redact
from reflector.surface.cli.output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what it does; it takes no arguments of its own."""
    parser.description = (
        "Take secrets out of a text, from stdin to stdout: the redactor that everything uses. "
        "Bytes that are no UTF-8 pass unharmed; `--json` prints the text and a count by rule."
    )


def run(args: argparse.Namespace, out: Output) -> int:
    """Redact standard input as a whole: a value under a key goes wherever it stands."""
    del args
    found = redact(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    if out.json:
        text = found.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        out.object({"text": text, "counts": dict(sorted(found.counts.items()))})
    else:
        out.raw(found.text.encode("utf-8", "surrogateescape"))
    return 0
