"""Numbers on the command line."""

from __future__ import annotations

import argparse

_DIGITS = 18
"""More than these no database takes, and of thousands Python makes no number."""


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or len(text) > _DIGITS or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number of at least 1")
    return int(text)
