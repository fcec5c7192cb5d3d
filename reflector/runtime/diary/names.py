"""Names that all of this folder shares, without anything that would have to be imported for them."""

from __future__ import annotations

from typing import Final

PIPELINE: Final = "diary"

JOB: Final = "Diary-Job"
CAME: Final = "Diary-Came"
SLEEP: Final = "Diary-Sleep"
PERSONA: Final = "Diary-Persona"
"""Trailers of commits: which job, what came of it, which night, which side of the persona."""

WRITING: Final = "diary_writing"
AWAKE: Final = "diary_awake"
SLEEPING: Final = "diary_sleeping"
SLEPT: Final = "diary_slept"
MOVES: Final = "diary_persona"
TROUBLE: Final = "diary_trouble"
"""Marks of the database: the commit that is being made, the first day that no night has put in
order, the night that is going on, the last night, what was changed in the persona, and why nothing
can be written now."""
