"""What a diary holds: entries, traits, a lexicon, a mood, and what was burned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal["failure", "win", "chat", "disclosure", "grievance", "note"]
About = Literal["user", "self"]

KINDS: Final[tuple[Kind, ...]] = ("failure", "win", "chat", "disclosure", "grievance", "note")
SCHEMA: Final = 1
"""The version of the form on disk; a newer one pauses the diary and leaves the bytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened, or with `kind` note a judgement about it.

    Days are local dates (`2026-11-30`), times are RFC 3339 UTC. `turn` is None where nobody knows:
    such an entry is never continued. `version` grows with every change.
    """

    id: str
    date: str
    text: str
    kind: Kind
    tags: tuple[str, ...] = ()
    salience: float = 0.5
    resolved: bool = False
    conversation: str = ""
    turn: int | None = None
    created_at: str = ""
    updated_at: str = ""
    reinforced_on: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Trait:
    """What a person is like (`about` user) or how to act with them (self), with its moment."""

    id: str
    text: str
    evidence: str
    about: About
    confidence: float = 0.5
    salience: float = 0.5
    last_reinforced: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase that both share; `count` is how often it occurred."""

    term: str
    count: int
    last_used: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What was deleted, without a word of it: its id and the version that is dead."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Mood:
    """One slow variable, -1 to 1; 0 is neutral. `day` is the local date of `value`."""

    value: float = 0.0
    day: str = ""


@dataclass(frozen=True, slots=True)
class Diary:
    """Everything of one diary at one moment. `notes` are the person's lines of NOTES.md.

    `damaged` are the paths of files that could not be read; they stay as they are.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    traits: Mapping[str, Trait] = field(default_factory=dict)
    lexicon: Mapping[str, Term] = field(default_factory=dict)
    tombstones: Mapping[str, Tombstone] = field(default_factory=dict)
    persona: str = ""
    notes: tuple[str, ...] = ()
    mood: Mood = Mood()
    damaged: tuple[str, ...] = ()
