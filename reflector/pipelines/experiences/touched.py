"""The files that a segment's tools worked on, by rule: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import normpath, relpath

from reflector.pipelines.experiences.rows import Row, arguments, is_call, texts

MOST = 100
_LONGEST = 400
_KEY = re.compile(
    r"(?:^|_)(?:path|file|paths|files|filename|notebook|folder|dir|directory)$", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PATCH = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ b/|--- a/)(.+?)[ \t]*$",
    re.MULTILINE,
)


def touched(rows: Iterable[Row], root: str = "") -> tuple[str, ...]:
    """Return the paths in calls and patches, each once, in order; below `root` relative to it."""
    found = dict.fromkeys(
        place
        for one in rows
        if is_call(one)
        for path in _paths(arguments(one))
        if (place := _place(path, root))
    )
    return tuple(found)[:MOST]


def _paths(given: object) -> Iterator[str]:
    if isinstance(given, Mapping):
        for key, value in given.items():
            if _KEY.search(_CAMEL.sub("_", str(key))):
                yield from texts(value)
            elif isinstance(value, Mapping):
                yield from _paths(value)
            elif isinstance(value, list):
                for each in value:
                    yield from _paths(each)
    for text in texts(given):
        yield from _PATCH.findall(text)


def _place(path: str, root: str) -> str:
    """Return a path as it is kept, "" for what is none."""
    if not path.strip() or len(path) > _LONGEST or "\n" in path or "://" in path:
        return ""
    plain = normpath(path.strip())
    if root and (plain == root or plain.startswith(root.rstrip("/") + "/")):
        plain = relpath(plain, root)
    return "" if plain == "." else plain
