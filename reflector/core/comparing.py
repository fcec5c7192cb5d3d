"""Texts in the forms in which two of them count as the same."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Return a text without what differs in typing alone: case, width, blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters(text: str) -> str:
    """Return only the letters and digits of a text, whatever their case."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
