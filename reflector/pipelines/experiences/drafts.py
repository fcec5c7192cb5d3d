"""What an extraction wants to write, before anybody compared it with what the memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.experience import CONFIDENCE, EpisodicFact, Experience
from reflector.memory.experiences.form import Layer


@dataclass(frozen=True, slots=True)
class Draft:
    """An experience or a fact that may be written. `key` names it in one reconciliation.

    `title` is the task or the subject, `text` the solution or the statement; `details` is the text
    that a fact keeps word for word.
    """

    key: str
    layer: Layer
    title: str
    text: str
    verified: bool = True
    confidence: float = CONFIDENCE
    boundary_envs: str = ""
    search_keys: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    details: str = ""


def drafts_of(
    experiences: Sequence[tuple[Experience, bool]],
    fact: tuple[EpisodicFact, bool] | None,
    details: str = "",
) -> tuple[Draft, ...]:
    """Make drafts of what was extracted; each item comes with whether it is verified."""
    found = [
        Draft(
            f"e{number}",
            "experience",
            one.task,
            one.solution,
            verified=verified,
            confidence=one.confidence,
            boundary_envs=one.boundary_envs,
            search_keys=one.search_keys,
            evidence=one.evidence,
        )
        for number, (one, verified) in enumerate(experiences, start=1)
    ]
    if fact is not None:
        one, verified = fact
        found.append(
            Draft(
                "f1",
                "fact",
                one.subject,
                one.statement,
                verified=verified,
                files=one.files,
                evidence=tuple(dict.fromkeys((*one.evidence, *one.details))),
                details=details,
            )
        )
    return tuple(found)
