"""Which adapters there are, and which of them reads a file."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.harness.claude_code import ClaudeCode
from reflector.harness.codex import Codex
from reflector.harness.events import Adapter, Json
from reflector.harness.foreign import foreign, foreign_bytes
from reflector.harness.jsonl import Jsonl

__all__ = ["ADAPTERS", "detect", "foreign", "foreign_bytes"]

ADAPTERS: tuple[Adapter, ...] = (ClaudeCode(), Codex(), Jsonl())
"""All adapters, the generic form last."""


def detect(ahead: Sequence[Json]) -> Adapter | None:
    """Return the adapter that reads a file with these first rows (at most 20), None if none does.

    A file that is known to be something else is refused before the tolerant generic form sees it.
    """
    *harnesses, generic = ADAPTERS
    for adapter in harnesses:
        if adapter.recognises(ahead):
            return adapter
    if foreign(ahead) or not generic.recognises(ahead):
        return None
    return generic
