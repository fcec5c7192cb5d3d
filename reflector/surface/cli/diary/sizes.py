"""How much a diary or a pack holds, told."""

from __future__ import annotations

from reflector.surface.cli.output import counted


def sizes(entries: int, traits: int, terms: int) -> str:
    """Return the three numbers in words."""
    parts = (counted(entries, "entry", "entries"), counted(traits, "trait"), counted(terms, "term"))
    return ", ".join(parts)
