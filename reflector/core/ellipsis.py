"""A text cut to a length, with the sign that something is left out."""

from __future__ import annotations


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters; a longer one ends with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
