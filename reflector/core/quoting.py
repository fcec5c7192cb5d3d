"""Foreign text behind a bar: no line of it can be taken for one of ours."""

from __future__ import annotations

from collections.abc import Iterator


def barred(text: str) -> Iterator[str]:
    """Yield the lines of a text, each behind a bar; an empty text is one line."""
    return (f"| {line}" for line in text.splitlines() or [""])
