"""What a diary holds: entries, traits, a lexicon, a mood, and what was burned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from reflector.core.comparing import folded

Kind = Literal["failure", "win", "chat", "disclosure", "grievance", "note"]
About = Literal["user", "self"]

KINDS: Final[tuple[Kind, ...]] = ("failure", "win", "chat", "disclosure", "grievance", "note")
SCHEMA: Final = 1
"""The version of the form on disk; a newer one pauses the diary and leaves the bytes."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of an entry's text, as replicas tell pieces apart; `after` is the part before it.

    Written by `pipelines.diary.parts` alone; whoever changes an entry changes its `text`.
    """

    id: str
    after: str
    at: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Share:
    """What one replica counted; of two the later `edition` holds, since only that one writes it.

    Written by `pipelines.diary.counting` alone; whoever counts changes a term's `count`.
    """

    replica: str
    edition: int
    value: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened, or with `kind` note a judgement about it.

    Days are local dates (`2026-11-30`), times are RFC 3339 UTC. `turn` is None where nobody knows:
    such an entry is never continued. `version` grows with every change, `life` only when a record
    that was deleted is brought back.
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
    life: int = 1
    parts: tuple[Part, ...] = field(default=(), compare=False, repr=False)


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
    life: int = 1


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase that both share; `count` is how often it occurred."""

    term: str
    count: int
    last_used: str = ""
    version: int = 1
    life: int = 1
    counts: tuple[Share, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What was deleted, without a word of it: every life up to `version` is dead.

    The record's own `version` will do: it is never less than its `life`. A term's id is
    `pipelines.diary.settling.term_tombstone`.
    """

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

    Entries, traits and tombstones go by their ids, terms by `term_key`. `damaged` are the paths of
    files that could not be read; they stay as they are. `replica` is this diary among those that
    meet by packs, "" until it met one.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    traits: Mapping[str, Trait] = field(default_factory=dict)
    lexicon: Mapping[str, Term] = field(default_factory=dict)
    tombstones: Mapping[str, Tombstone] = field(default_factory=dict)
    persona: str = ""
    notes: tuple[str, ...] = ()
    mood: Mood = Mood()
    damaged: tuple[str, ...] = ()
    replica: str = ""


def term_key(term: str) -> str:
    """Return what a term goes by in a lexicon: however it was typed, it is one term."""
    return folded(term)


def told_at(entry: Entry) -> tuple[str, str]:
    """Return what puts entries in the order in which they were last told."""
    return entry.updated_at or entry.created_at or entry.date, entry.id
