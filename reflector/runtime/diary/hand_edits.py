"""A person's edits of the two texts of the diary that are theirs: read and judged, never touched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reflector.core.redact import find_secrets
from reflector.memory.tree import FILE
from reflector.pipelines.diary.records import NOTES, PERSONA
from reflector.vcs.merge import Files
from reflector.vcs.swap import read

THEIRS = (PERSONA, NOTES)

_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """What can be committed for the person, and why the rest cannot, in sentences."""

    files: Files
    left: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Return the subject of the commit."""
        return f"edit {' and '.join(self.files)}"


def look(folder: Path, committed: Mapping[str, bytes | None], until: float | None) -> Found:
    """Compare the working files with what is committed of them.

    What changed after `until` (seconds since 1970; None: nothing is too fresh) waits.
    """
    files: dict[str, tuple[int, bytes] | None] = {}
    left: list[str] = []
    for path, before in committed.items():
        place = folder / path
        content = read(place)
        after = None if content is None else content.replace(b"\r\n", b"\n")
        if after == before or (until is not None and _changed_at(place) > until):
            continue
        if why := _unfit(place, after):
            left.append(f"{path} was not taken in: {why}")
        else:
            files[path] = None if after is None else (FILE, after)
    return Found(files, tuple(left))


def _unfit(place: Path, content: bytes | None) -> str:
    if content is None:
        return "it is no regular file." if os.path.lexists(place) else ""
    if len(content) > _LARGEST:
        return f"it is larger than {_LARGEST // 1024} KiB."
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"it is no UTF-8 ({error.reason} at byte {error.start})."
    if "\0" in text:
        return "it holds a NUL."
    return "it holds a secret." if find_secrets(text) else ""


def _changed_at(place: Path) -> float:
    for each in (place, place.parent):  # of a file that is gone, its folder tells
        try:
            return each.lstat().st_mtime
        except OSError:
            continue
    return 0.0
