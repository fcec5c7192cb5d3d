"""How much a diary or a pack holds, told."""

from __future__ import annotations

from reflector.surface.cli.output import counted


def sizes(entries: int, traits: int, terms: int) -> str:
    """Return the three numbers in words."""
    what = (counted(entries, "entry", "entries"), counted(traits, "trait"))
    return ", ".join((*what, counted(terms, "shared phrase")))
