"""Which adapters there are, and which of them reads a file."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.harness.claude_code import ClaudeCode
from reflector.harness.codex import Codex
from reflector.harness.events import Adapter, Json
from reflector.harness.foreign import foreign, foreign_bytes
from reflector.harness.gemini_cli import GeminiCli
from reflector.harness.jsonl import Jsonl
from reflector.harness.opencode import OpenCode
from reflector.harness.openhands import OpenHands
from reflector.harness.pi import Pi
from reflector.harness.swe_agent import SweAgent

__all__ = ["ADAPTERS", "detect", "foreign", "foreign_bytes"]

ADAPTERS: tuple[Adapter, ...] = (
    ClaudeCode(),
    Codex(),
    GeminiCli(),
    OpenCode(),
    OpenHands(),
    Pi(),
    SweAgent(),
    Jsonl(),
)
"""All adapters, the generic form last."""

_DOCUMENTS = tuple(each for each in ADAPTERS if not isinstance(each, ClaudeCode | Codex | Pi))
"""Adapters of harnesses that keep, or export, a session as one JSON value."""


def detect(ahead: Sequence[Json], folder: str = "", *, document: bool = False) -> Adapter | None:
    """Return the adapter that reads a file with these first rows (at most 20), None if none does.

    `folder` is the name of the folder it lies in; `document` tells that the rows stand in one JSON
    value. A file that is known to be something else is refused before the tolerant generic form
    sees it.
    """
    *harnesses, generic = _DOCUMENTS if document else ADAPTERS
    for adapter in harnesses:
        if adapter.recognises(ahead):
            return _placed(adapter, folder, alone=len(ahead) == 1)
    if foreign(ahead) or not generic.recognises(ahead):
        return None
    return generic


def _placed(adapter: Adapter, folder: str, *, alone: bool) -> Adapter | None:
    """Take in the folder: some harnesses name a parent by it, another files every event alone."""
    if isinstance(adapter, OpenHands) and folder == "events" and alone:
        return None
    return type(adapter)(folder) if isinstance(adapter, GeminiCli | Pi) else adapter
