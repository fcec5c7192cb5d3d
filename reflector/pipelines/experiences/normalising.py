"""One experience or fact as a model wrote it, brought into its form; what cannot be is no item."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from reflector.core.experience import (
    CONFIDENCE,
    LONGEST_SUBJECT,
    MOST_KEYS,
    EpisodicFact,
    Experience,
)
from reflector.core.redact import redact_record

Reason = Literal["not_an_object", "task_blank", "solution_blank", "statement_blank", "one_too_many"]
"""Why an item is dropped."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufeff]|(?P<torn>[\ud800-\udfff])"
)


def experience(raw: object) -> Experience | Reason:
    """Read one experience."""
    try:
        return _experience(raw)
    except RecursionError:  # a nesting beyond all measure
        return "not_an_object"


def _experience(raw: object) -> Experience | Reason:
    if not isinstance(raw, Mapping):
        return "not_an_object"
    task, solution = _one_line(_text(raw.get("task"))), _text(raw.get("solution"))
    if not task:
        return "task_blank"
    if not solution:
        return "solution_blank"
    envs, keys = _text(raw.get("boundary_envs")), _keys(raw.get("search_keys"), task)
    # One record: a value that stands under a key in one of them goes wherever it is repeated.
    (task, solution, envs, *keys), _ = redact_record((task, solution, envs, *keys))
    return Experience(
        task=task,
        solution=solution,
        boundary_envs=envs,
        confidence=_confidence(raw.get("confidence")),
        search_keys=tuple(keys),
        evidence=_strings(raw.get("evidence")),
    )


def fact(raw: object) -> EpisodicFact | Reason:
    """Read one fact; a text alone is its statement."""
    try:
        return _fact(raw)
    except RecursionError:
        return "not_an_object"


def _fact(raw: object) -> EpisodicFact | Reason:
    if isinstance(raw, str):
        raw = {"statement": raw}
    if not isinstance(raw, Mapping):
        return "not_an_object"
    statement, subject = _text(raw.get("statement")), _one_line(_text(raw.get("subject")))
    if not statement:
        return "statement_blank"
    subject = "" if len(subject) > LONGEST_SUBJECT else subject
    (statement, subject, *files), _ = redact_record(
        (statement, subject, *_strings(raw.get("files")))
    )
    return EpisodicFact(
        statement=statement,
        subject=subject,
        files=tuple(dict.fromkeys(files)),
        details=_strings(raw.get("details")),
        evidence=_strings(raw.get("evidence")),
    )


def _text(value: object) -> str:
    """Return a text; a number as it is written, a list or an object as lines."""
    match value:
        case str():
            return _clean(value).strip()
        case bool() | None:
            return ""
        case int() | float():
            return _scalar(value)
        case list() | tuple():
            return "\n".join(each for each in map(_text, value) if each)
        case Mapping():
            lines = ((_one_line(_text(name)), _value(each)) for name, each in value.items())
            return "\n".join(f"{name}: {each}" for name, each in lines if name and each)
        case _:
            return ""


def _value(value: object) -> str:
    """Return what stands behind a key, on its line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return _one_line(_clean(json.dumps(value, ensure_ascii=False)))
    if isinstance(value, list | tuple):
        return ", ".join(each for each in map(_value, value) if each)
    return _one_line(_text(value))


def _scalar(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes down
        return ""


def _clean(text: str) -> str:
    """Return a text that can be written as UTF-8, without what nobody sees."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(lambda match: "\ufffd" if match["torn"] else "", text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _strings(value: object) -> tuple[str, ...]:
    """Return the texts of a list, trimmed, each once, in order."""
    listed: Iterable[object] = value if isinstance(value, list | tuple) else ()
    texts = (_one_line(_clean(each)) for each in listed if isinstance(each, str))
    return tuple(dict.fromkeys(each for each in texts if each))


def _keys(value: object, task: str) -> list[str]:
    """Return other phrasings: none that is the task, and none twice, whatever their case."""
    kept = {task.casefold(): task}
    for each in _strings(value):
        kept.setdefault(each.casefold(), each)
    return list(kept.values())[1 : MOST_KEYS + 1]


def _confidence(value: object) -> float:
    if isinstance(value, str):
        value = float(value) if _NUMBER.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return CONFIDENCE
    if isinstance(value, float) and math.isnan(value):
        return CONFIDENCE
    return float(min(1, max(0, value)))
