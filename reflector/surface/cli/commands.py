"""The table of commands: which module runs each, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """A command whose next word chooses what it does."""

    says: str
    commands: Mapping[str, tuple[str, str]]


Entry = tuple[str, str] | Group
"""Either (module in this package, what it does), or a group of such. Imported when chosen."""

COMMANDS: dict[str, Entry] = {
    "init": ("init", "make the memory of an identity, with its seed documents"),
    "reflect": ("reflect", "learn from transcripts: ingest, reflect, validate, merge"),
    "ingest": ("ingest", "journal transcripts only; nothing is reflected on"),
    "pause": ("pause", "stop recording, for good or for a time"),
    "resume": ("resume", "go on recording"),
    "status": ("status", "health at a glance"),
    "runs": ("runs", "the run ledger, newest first"),
    "show": ("show", "what one run read and changed"),
    "undo": ("undo", "take one run's merge back by a new commit"),
    "retry": ("retry", "read what one run read again; moves no cursor"),
    "park": ("park", "the circuit breaker: show or clear it"),
    "sweep": ("sweep", "remove what killed runs left behind"),
    "event": ("event", "tell that something happened: what embedders and hooks call"),
    "supervise": ("supervise", "the long-lived supervisor of all identities"),
    "prompt": ("prompt", "the compiled memory block, as an agent gets it"),
    "config": ("config", "the settings and where they come from"),
    "doctor": ("doctor", "look for trouble and say what to do"),
}
