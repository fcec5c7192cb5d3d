"""Objects that a run wrote and nobody needs, out of the object store when they hold a secret.

Commits that the validator refused, or that a repair amended, stay in git as loose objects for
weeks; a secret in one of them would be in our repository all that time.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reflector.vcs.porcelain import Porcelain

_SLACK_SECONDS = 2.0
_LARGEST = 4_000_000
_SHA = re.compile(r"[0-9a-f]{38}\Z")


@dataclass(frozen=True, slots=True)
class Loose:
    """A loose object: where it lies, its kind, its content."""

    place: Path
    kind: str
    content: bytes


def written_since(git_dir: Path, since: float) -> dict[str, Loose]:
    """Return the loose objects written since then (seconds since the epoch), by sha."""
    found: dict[str, Loose] = {}
    for folder in (git_dir / "objects").glob("[0-9a-f][0-9a-f]"):
        for place in _new_names(folder, since):
            if loose := _read(place, since):
                found[folder.name + place.name] = loose
    return found


def _new_names(folder: Path, since: float) -> list[Path]:
    try:
        # A folder is as old as the last change of its names: most hold nothing new.
        if folder.stat().st_mtime < since - _SLACK_SECONDS:
            return []
        return [place for place in folder.iterdir() if _SHA.match(place.name)]
    except OSError:  # packed meanwhile
        return []


def _read(place: Path, since: float) -> Loose | None:
    try:
        if place.stat().st_mtime < since - _SLACK_SECONDS:
            return None
        raw = zlib.decompress(place.read_bytes())
    except (OSError, zlib.error):  # taken away meanwhile, or no object
        return None
    head, _, content = raw.partition(b"\0")
    return Loose(place, head.partition(b" ")[0].decode("ascii", "replace"), content[:_LARGEST])


def holding(objects: Mapping[str, Loose], secret: Callable[[str], bool]) -> set[str]:
    """Return which of the objects hold a secret, or name one that does."""
    held = {sha for sha, each in objects.items() if secret(_text(each))}
    growing = bool(held)
    while growing:
        more = {sha for sha, each in objects.items() if sha not in held and held & _names(each)}
        held |= more
        growing = bool(more)
    return held


def expunge(git: Porcelain, objects: Mapping[str, Loose], held: set[str]) -> tuple[str, ...]:
    """Remove those of `held` that no ref, reflog or index reaches; return their shas.

    Children go last, so that a death in between leaves nothing that names what is not there.
    """
    if not held:
        return ()
    gone = held - git.reachable()
    order = {"commit": 0, "tag": 0, "tree": 1, "blob": 2}
    for sha in sorted(gone, key=lambda each: order.get(objects[each].kind, 0)):
        objects[sha].place.unlink(missing_ok=True)
    return tuple(sorted(gone))


def _text(each: Loose) -> str:
    if each.kind != "tree":
        return each.content.decode("utf-8", "surrogateescape")
    return "\n".join(name.decode("utf-8", "surrogateescape") for name, _ in _entries(each.content))


def _names(each: Loose) -> set[str]:
    if each.kind == "tree":
        return {sha for _, sha in _entries(each.content)}
    if each.kind == "commit":
        head = each.content.partition(b"\n\n")[0].decode("utf-8", "replace")
        return set(re.findall(r"^(?:tree|parent) ([0-9a-f]{40})$", head, re.MULTILINE))
    return set()


def _entries(content: bytes) -> list[tuple[bytes, str]]:
    found = []
    while content:
        head, _, rest = content.partition(b"\0")
        found.append((head.partition(b" ")[2], rest[:20].hex()))
        content = rest[20:]
    return found
