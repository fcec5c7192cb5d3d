"""Which experiences were used so often that reflection is asked whether one is a skill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reflector.memory.experiences.chains import Known
from reflector.memory.experiences.form import Stored

SESSIONS = 3
MOST = 5


@dataclass(frozen=True, slots=True)
class Ripe:
    """An experience and the number of sessions in which it was used, or confirmed."""

    experience: Stored
    sessions: int


def ripe(known: Known, used: Mapping[str, int], skills: Iterable[str]) -> tuple[Ripe, ...]:
    """Return the experiences that were used, or confirmed, in three sessions, the foremost first.

    `used` is the number of sessions by path, `skills` the texts of all skills: one that names an
    experience came from it. A session may have used and confirmed it, so the numbers are not added.
    """
    named = "\n".join(skills)
    found = [
        Ripe(one, sessions)
        for one in known.values()
        if one.layer == "experience" and one.status == "active" and one.verified
        if (sessions := max(_confirmed(one), used.get(one.path, 0))) >= SESSIONS
        if one.id not in named
    ]
    return tuple(sorted(found, key=lambda each: (-each.sessions, each.experience.id))[:MOST])


def _confirmed(one: Stored) -> int:
    """Return from how many conversations its evidence comes: an entry's id ends with its place."""
    return len({entry.rpartition(":")[0] for entry in one.evidence})
