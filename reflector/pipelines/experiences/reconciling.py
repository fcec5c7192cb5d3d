"""Whether a draft is new, known, better than what is known, or replaces it: one call says, code decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from reflector.core.comparing import folded
from reflector.memory.experiences.form import Layer
from reflector.pipelines.experiences.drafts import Draft


class Action(StrEnum):
    """What becomes of a draft."""

    ADD = "add"
    UPDATE = "update"
    SKIP = "skip"
    SUPERSEDE = "supersede"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that the memory holds and that a draft may be about."""

    id: str
    layer: Layer
    title: str
    text: str
    verified: bool = True


Offered = Mapping[str, Sequence[Candidate]]
"""What is put to the model beside each draft, by the draft's key."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of one draft. `instead` says why an answer was not followed, "" when it was."""

    draft: str
    action: Action = Action.ADD
    targets: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """One choice for each draft, in their order; `unreadable` when the answer held none."""

    choices: tuple[Choice, ...]
    unreadable: bool = False


TOOL: Final = "reconcile"
SAYS: Final = (
    "Say for each draft whether it is new, known, better than what is known, or replaces it."
)
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "draft": {"type": "string"},
                    "action": {"type": "string", "enum": [one.value for one in Action]},
                    "targets": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["draft", "action", "targets"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["decisions"],
    "additionalProperties": False,
}


def needs_call(drafts: Sequence[Draft], offered: Offered) -> bool:
    """Tell whether there is anything to decide: without candidates every draft is new."""
    return any(offered.get(draft.key) for draft in drafts)


def decide(
    drafts: Sequence[Draft], offered: Offered, arguments: Mapping[str, Any] | None
) -> Decided:
    """Follow an answer as far as it holds: ids that were offered, each once; all else is added.

    A fact is always written; it may replace facts of its subject. What is not verified replaces
    and changes nothing that is.
    """
    answers = _answers(arguments)
    taken: set[str] = set()
    choices: list[Choice] = []
    for draft in drafts:
        candidates = {one.id: one for one in offered.get(draft.key, ())}
        choice = _choice(draft, candidates, answers.get(draft.key), taken)
        taken.update(choice.targets)
        choices.append(choice)
    return Decided(tuple(choices), unreadable=not answers and needs_call(drafts, offered))


def _answers(arguments: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """Return the first readable answer for each draft."""
    listed = arguments.get("decisions") if isinstance(arguments, Mapping) else None
    found: dict[str, Mapping[str, Any]] = {}
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping) and isinstance(key := one.get("draft"), str):
            found.setdefault(key, one)
    return found


def _choice(
    draft: Draft,
    candidates: Mapping[str, Candidate],
    answer: Mapping[str, Any] | None,
    taken: set[str],
) -> Choice:
    action = _action(answer)
    if answer is None or action is None or action is Action.ADD:
        return Choice(draft.key, instead="" if answer is None or action else "no such action")
    listed = answer.get("targets")
    ids = (each for each in listed if isinstance(each, str)) if isinstance(listed, list) else ()
    named = tuple(dict.fromkeys(ids))
    refused = {
        each: why
        for each in named
        if (why := _against(draft, action, candidates.get(each), known=each in taken))
    }
    targets = tuple(each for each in named if each not in refused)
    if not targets:
        return Choice(draft.key, instead=next(iter(refused.values()), "no target"))
    if action is not Action.SUPERSEDE:
        targets = targets[:1]
    return Choice(draft.key, action, targets, next(iter(refused.values()), ""))


def _action(answer: Mapping[str, Any] | None) -> Action | None:
    said = answer.get("action") if answer is not None else None
    return Action(said) if isinstance(said, str) and said in set(Action) else None


def _against(draft: Draft, action: Action, target: Candidate | None, *, known: bool) -> str:
    """Return why an action may not touch a target, "" when it may."""
    if target is None:
        return "not offered"
    subject = folded(draft.title)
    faults = (
        (known, "named twice"),
        (target.layer != draft.layer, "of another kind"),
        (draft.layer == "fact" and action is not Action.SUPERSEDE, "a fact is always written"),
        (
            draft.layer == "fact" and not (subject and subject == folded(target.title)),
            "of another subject",
        ),
        (
            action is not Action.SKIP and target.verified and not draft.verified,
            "unverified against verified",
        ),
    )
    return next((why for wrong, why in faults if wrong), "")
