"""What the templates of experiences may mention: values, one type for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ExperienceTask = Literal[
    "scene", "coding", "coding-zh", "working", "working-zh", "both", "both-zh", "reconcile"
]
"""The rules for experiences; `both` is what is the same for coding and working."""


@dataclass(frozen=True, slots=True)
class ExperienceRulesContext:
    """What the rules for experiences mention: whether the host knows project and branch."""

    project_known: bool
    branch_known: bool


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """A segment as a model reads it, and the turns before it. `left_out` says what is missing."""

    segment: str
    earlier: str
    left_out: str
    without_tools: bool


@dataclass(frozen=True, slots=True)
class PromptItem:
    """A stored experience or fact that a draft may be about."""

    id: str
    title: str
    text: str
    verified: bool


@dataclass(frozen=True, slots=True)
class PromptDraft:
    """An experience or a fact that is to be stored, and the stored ones beside it."""

    key: str
    layer: str
    title: str
    text: str
    verified: bool
    items: Sequence[PromptItem]


@dataclass(frozen=True, slots=True)
class DraftsContext:
    """What a reconciliation reads."""

    drafts: Sequence[PromptDraft]
