"""Which kind of work a segment holds: as set, as a model says, or as its tools show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reflector.core.experience import Scene
from reflector.pipelines.experiences.editing import edits
from reflector.pipelines.experiences.rows import Row, is_call, spoken

# How people state what a task runs on; one of them is enough, since a needless fact costs a row.
_GIVEN = re.compile(
    r"\d|[=<>≤≥]|\b(?:must|shall|should|need(?:s|ed)?|require\w*|constraint\w*|only|never|always|"
    r"at (?:most|least)|no more than|maximum|minimum|limit\w*|deadline|budget|assume|given|suppose|"
    r"currently|right now|we (?:have|use|run|are)|it (?:is|runs|uses)|prefer\w*|muss|soll\w*|darf|"
    r"doit|faut|debe|deve)\b|"
    r"必须|需要|要求|限制|不能|不要|只能|最多|最少|至少|不超过|假设|已知|目前|现在|约束|预算|参数|条件|"
    r"必要|必ず|してください|前提|条件|해야|필요|조건",
    re.IGNORECASE,
)
_LONG = 160


def known(word: str) -> Scene | None:
    """Return the scene of that name; None for what is no name of one."""
    return next((each for each in Scene if each == word.strip().lower()), None)


def chosen(setting: str, answer: object, rows: Sequence[Row]) -> Scene:
    """Return the scene of a segment: what is set, else the answer of a model, else the fallback.

    Small talk is no small talk when files were edited in it, or when things were stated without
    a tool that would show them again.
    """
    if (fixed := known(setting)) is not None:
        return fixed
    named = answer.get("scene") if isinstance(answer, Mapping) else answer
    found = known(named) if isinstance(named, str) else None
    if found is None or (found is Scene.CHAT and (any(map(edits, rows)) or facts_only(rows))):
        return fallback(rows)
    return found


def fallback(rows: Sequence[Row]) -> Scene:
    """Return the scene as the tools show it."""
    return Scene.CODING if any(map(edits, rows)) else Scene.WORKING


def facts_only(rows: Sequence[Row]) -> bool:
    """Tell whether a segment gives a fact and no experience: things are stated, no tool was used."""
    if any(map(is_call, rows)):
        return False
    return any(_states(one.text) for one in spoken(rows))


def _states(text: str) -> bool:
    return _GIVEN.search(text) is not None or len(text.strip()) >= _LONG
