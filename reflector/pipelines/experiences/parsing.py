"""What a model answered to an extraction, read item by item, and its machine form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reflector.core.experience import Dropped, EpisodicFact, Experience, Extraction
from reflector.pipelines.experiences import finding, normalising

_MOST = 100
"""So many items of an answer are read: the tokens that it may have hold no more."""


def parse(text: str) -> Extraction:
    """Read an answer out of a reply; one that holds none gives an empty extraction."""
    found = finding.find(text)
    return Extraction() if found is None else read(found.answer, repaired=found.repaired)


def read(answer: Mapping[str, Any], *, repaired: bool = False) -> Extraction:
    """Read an answer that was given as an object, as the arguments of a forced call are."""
    listed, mended = _listed(answer, "experiences")
    if not any(isinstance(each, Mapping) for each in listed) and "memories" in answer:
        listed, mended = _listed(answer, "memories")
    experiences, dropped = [], []
    for index, raw in enumerate(listed[:_MOST]):
        one = normalising.experience(raw)
        if isinstance(one, Experience):
            experiences.append(one)
        else:
            dropped.append(Dropped(index, one))
    dropped += (Dropped(index, "one_too_many") for index in range(_MOST, len(listed)))
    facts, unwrapped = _facts(answer)
    fact, refused = _first(facts[:_MOST])
    repaired = repaired or mended or unwrapped
    return Extraction(tuple(experiences), fact, repaired, (*dropped, *refused))


def readable(reply: str | Mapping[str, Any]) -> bool:
    """Tell whether a reply holds an answer at all, were it an empty one."""
    return finding.find(reply) is not None if isinstance(reply, str) else finding.known(reply)


def as_json(extraction: Extraction) -> dict[str, object]:
    """Return the public form; of evidence and details only what was named."""
    fact = extraction.fact
    return {
        "experiences": [_experience(each) for each in extraction.experiences],
        "fact": None if fact is None else _fact(fact),
        "repaired": extraction.repaired,
        "dropped": [{"index": one.index, "reason": one.reason} for one in extraction.dropped],
    }


def _experience(one: Experience) -> dict[str, object]:
    told: dict[str, object] = {
        "task": one.task,
        "search_keys": list(one.search_keys),
        "solution": one.solution,
        "boundary_envs": one.boundary_envs,
        "confidence": one.confidence,
    }
    return told | ({"evidence": list(one.evidence)} if one.evidence else {})


def _fact(one: EpisodicFact) -> dict[str, object]:
    told: dict[str, object] = {
        "subject": one.subject,
        "statement": one.statement,
        "files": list(one.files),
    }
    named = {"details": one.details, "evidence": one.evidence}
    return told | {name: list(ids) for name, ids in named.items() if ids}


def _listed(answer: Mapping[str, Any], key: str) -> tuple[list[Any], bool]:
    """Return a list of an answer, and whether it had to be made one."""
    value, mended = _unpacked(answer.get(key))
    if isinstance(value, Mapping):
        return [value], True
    return (value, mended) if isinstance(value, list) else ([], False)


def _facts(answer: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """Return what is given as facts: one that is there wins over a list of several."""
    value, mended = _unpacked(answer.get("fact"))
    if value is None:
        return _listed(answer, "facts")
    if isinstance(value, list):
        return value, True
    return ([value] if value else []), mended or isinstance(value, str)


def _unpacked(value: object) -> tuple[object, bool]:
    """Return what a text holds that is JSON itself: some models write an argument twice."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value, False
    try:
        return json.loads(value), True
    except (ValueError, RecursionError):
        return value, False


def _first(facts: list[Any]) -> tuple[EpisodicFact | None, list[Dropped]]:
    """Return the first fact that is one, and why the others are not taken."""
    kept: EpisodicFact | None = None
    dropped: list[Dropped] = []
    for raw in facts:
        one = normalising.fact(raw)
        if isinstance(one, str):
            dropped.append(Dropped(None, one))
        elif kept is None:
            kept = one
        else:
            dropped.append(Dropped(None, "one_too_many"))
    return kept, dropped
