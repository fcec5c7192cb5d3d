"""The known name that a mistyped one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "Did you mean …? ", to stand in front of a hint; "" if no name is like it."""
    import difflib  # noqa: PLC0415 - only for an error

    found = difflib.get_close_matches(name, list(names), 1)
    return f"Did you mean {found[0]}? " if found else ""
