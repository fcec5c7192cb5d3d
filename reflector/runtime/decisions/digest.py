"""What a project's own instruction files say already, for whoever must not say it again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from reflector.core.errors import HomeError
from reflector.core.redact import redact
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.contexts import Named
from reflector.store.disk import read_regular
from reflector.store.short_memory import project_root

TOKENS = 6000
_NAMES = ("AGENTS.md", "CLAUDE.md")
_BYTES = 1 << 20
_FOLDERS = 12
_CUT = "\n[… cut]"


def digest(start: str, home: str, most: int = TOKENS) -> tuple[Named, ...]:
    """Return the instruction files of the project around a directory, nearest first, without secrets.

    From the project's root up to the person's home (`home`); a project elsewhere has only its own.
    All together have at most `most` tokens; who needs less leaves the rest to the others.
    """
    found = list(_files(start, home))
    shares = _shares([estimate_tokens(text) for _, text in found], most)
    return tuple(
        Named(name, _head(text, share))
        for (name, text), share in zip(found, shares, strict=True)
        if share > 0
    )


def _files(start: str, home: str) -> Iterator[tuple[str, str]]:
    root = project_root(start) if start else None
    if root is None:
        return
    said: set[str] = set()
    for folder in _folders(Path(root), home):
        for name in _NAMES:
            text = _read(folder, name)
            if text.strip() and text not in said:  # one of the two is often a link to the other
                said.add(text)
                yield os.path.relpath(folder / name, root), redact(text).text


def _folders(root: Path, home: str) -> Sequence[Path]:
    end = Path(os.path.realpath(home)) if home else root
    if end not in (root, *root.parents):
        return (root,)
    return [each for each in (root, *root.parents) if each == end or end in each.parents][:_FOLDERS]


def _read(folder: Path, name: str) -> str:
    """Read a file of a folder; a link is followed only to what lies in that folder too."""
    try:
        place = Path(os.path.realpath(folder / name, strict=True))
        raw = read_regular(place, _BYTES) if place.is_relative_to(folder) else None
    except (HomeError, OSError, ValueError, RuntimeError):
        return ""
    return (raw or b"").decode("utf-8", "replace")


def _shares(wanted: Sequence[int], most: int) -> list[int]:
    """Give everybody the same, but nobody more than is wanted."""
    shares = [0] * len(wanted)
    left = most
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for position, at in enumerate(order):
        shares[at] = min(wanted[at], left // (len(order) - position))
        left -= shares[at]
    return shares


def _head(text: str, tokens: int) -> str:
    """Return the first whole lines of a text that fit."""
    if estimate_tokens(text) <= tokens:
        return text
    kept: list[str] = []
    left = tokens - estimate_tokens(_CUT)
    for line in text.splitlines(keepends=True):
        left -= estimate_tokens(line)
        if left < 0:
            break
        kept.append(line)
    return "".join(kept).rstrip("\n") + _CUT
