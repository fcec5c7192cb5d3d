"""The closed form of a record on disk: which fields it has, and what each of them may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from reflector.core.diary import KINDS

LONGEST = 20_000
"""Characters of one text, at most."""

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_NAME = re.compile(r"[A-Za-z0-9_-]{0,64}\Z")
_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z\Z",
    re.ASCII,
)
_MOST_TAGS = 50
_LONGEST_NAME = 512
_MOST = 2**53
# Far above what changes can reach, and far enough below what JSON holds to grow from there.
_MOST_VERSION = 2**40

Test = Callable[[Any], bool]


class FormError(ValueError):
    """A record is not in the form of its kind; the message says in which way."""


def _is_text(most: int) -> Test:
    return lambda value: isinstance(value, str) and len(value) <= most and _whole(value)


def _whole(value: str) -> bool:
    """Tell whether a text can be written as UTF-8."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_said(value: Any) -> bool:
    return _is_text(LONGEST)(value) and bool(value.strip())


def is_id(value: Any) -> bool:
    """Tell whether something is an id, which is also a file's name."""
    return isinstance(value, str) and _ID.match(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.match(value) is not None


def is_day(value: Any) -> bool:
    """Tell whether something is a local date as `2026-11-30`."""
    if not isinstance(value, str) or len(value) != 10 or value[4:8:3] != "--":
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.match(value) is not None


def _or_empty(test: Test) -> Test:
    return lambda value: value == "" or test(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_version(value: Any) -> bool:
    return _is_count(value) and 0 < value <= _MOST_VERSION


def _is_whole(value: Any) -> bool:
    return type(value) is int and -_MOST < value < _MOST


def _between(least: float, most: float) -> Test:
    # What is no number compares as false, so NaN is refused.
    return lambda value: type(value) in (int, float) and least <= value <= most


def _is_tags(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_TAGS
        and all(_is_text(_LONGEST_NAME)(tag) and tag for tag in value)
    )


def _listed(fields: Mapping[str, Test]) -> Test:
    def is_list(value: Any) -> bool:
        return isinstance(value, list) and all(
            isinstance(one, dict)
            and one.keys() == fields.keys()
            and all(test(one[name]) for name, test in fields.items())
            for one in value
        )

    return is_list


_PART: Final = {
    "id": _is_name,
    "after": _is_name,
    "at": _or_empty(_is_time),
    "version": _is_version,
    "size": _is_count,
}
_SHARE: Final = {"replica": _is_name, "edition": _is_version, "value": _is_whole}

ENTRY: Final[Mapping[str, Test]] = {
    "id": is_id,
    "date": is_day,
    "text": _is_said,
    "kind": lambda value: value in KINDS,
    "tags": _is_tags,
    "salience": _between(0, 1),
    "resolved": lambda value: isinstance(value, bool),
    "conversation": _is_text(_LONGEST_NAME),
    "turn": lambda value: value is None or _is_count(value),
    "created_at": _or_empty(_is_time),
    "updated_at": _or_empty(_is_time),
    "reinforced_on": _or_empty(is_day),
    "version": _is_version,
    "life": _is_version,
    "parts": _listed(_PART),
}
TRAIT: Final[Mapping[str, Test]] = {
    "id": is_id,
    "text": _is_said,
    "evidence": _is_said,
    "about": lambda value: value in ("user", "self"),
    "confidence": _between(0, 1),
    "salience": _between(0, 1),
    "last_reinforced": _or_empty(is_day),
    "version": _is_version,
    "life": _is_version,
}
TERM: Final[Mapping[str, Test]] = {
    "term": lambda value: _is_text(_LONGEST_NAME)(value) and bool(value.strip()),
    "count": _is_count,
    "last_used": _or_empty(is_day),
    "version": _is_version,
    "life": _is_version,
    "counts": _listed(_SHARE),
}
TOMBSTONE: Final[Mapping[str, Test]] = {"id": is_id, "version": _is_version}
MOOD: Final[Mapping[str, Test]] = {"value": _between(-1, 1), "day": _or_empty(is_day)}
HEADER: Final[Mapping[str, Test]] = {
    "schema": _is_version,
    "replica": _is_name,
}
DEFAULTS: Final[Mapping[str, object]] = {"life": 1, "parts": [], "counts": [], "replica": ""}
"""Fields that are left out where they say nothing."""


def silent(name: str, value: object) -> bool:
    """Tell whether a field says nothing that is not said without it."""
    return name in DEFAULTS and DEFAULTS[name] == value


def checked(fields: Mapping[str, Test], found: Any) -> dict[str, Any]:
    """Return a record's fields, all there and each as it may be. Raises FormError."""
    if not isinstance(found, dict):
        raise FormError("it is no object")
    if strange := sorted(found.keys() - fields.keys()):
        raise FormError(f"it has a field {strange[0][:40]!r} that is none of its kind's")
    whole = {name: DEFAULTS[name] for name in fields if name in DEFAULTS} | found
    for name, test in fields.items():
        if name not in whole:
            raise FormError(f"it has no field {name!r}")
        if not test(whole[name]):
            raise FormError(f"its field {name!r} holds what it may not")
    return whole
