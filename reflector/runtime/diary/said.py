"""Every sentence that a diary holds or ever held, as something that can be looked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from reflector.core.errors import GitError
from reflector.core.many import many
from reflector.core.needle import Needle
from reflector.vcs.objects import Objects

SHORTEST = 18
"""Bytes of a text that is looked for: a shorter one stands in many places that are no copy of it."""

_FIELDS = ("text", "evidence", "term")


def ever(repository: Path, seeds: Iterable[bytes] = ()) -> Needle:
    """Return what all commits of a diary say, reachable or not, but for what every diary begins with."""
    ours = {line for seed in seeds for line in _lines(seed)}
    with Objects(repository) as objects:
        blobs = (content for oid in objects for content in _blob(objects, oid))
        found = {text for blob in blobs for text in _texts(blob)}
    return needle(found - ours)


def _blob(objects: Objects, oid: str) -> Iterator[bytes]:
    try:
        kind, content = objects.read(oid)
    except GitError:
        return  # damaged: it says nothing any more, and must not keep the rest from being found
    if kind == "blob":
        yield content


def needle(texts: Iterable[str]) -> Needle:
    """Look for these texts, the long ones alone."""
    wanted = {text.strip() for text in texts}
    return many(sorted(text for text in wanted if long_enough(text)))


def long_enough(text: str) -> bool:
    """Tell whether a text found elsewhere is surely a copy."""
    return len(text.encode("utf-8", "surrogatepass")) >= SHORTEST


def _texts(blob: bytes) -> Iterator[str]:
    try:
        value = json.loads(blob)
    except (ValueError, RecursionError):
        yield from _lines(blob)
        return
    if isinstance(value, dict):
        yield from _fields(value)


def _fields(record: dict[str, Any]) -> Iterator[str]:
    for name in _FIELDS:
        if isinstance(text := record.get(name), str):
            yield text
            yield from text.split("\n")
    for tag in record.get("tags", ()):
        if isinstance(tag, str):
            yield tag


def _lines(blob: bytes) -> Iterator[str]:
    for line in blob.decode("utf-8", "replace").split("\n"):
        said = line.strip().removeprefix("- ").strip()
        yield said
