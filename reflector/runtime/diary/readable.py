"""The view of the diary that a person can leaf through: README.md, written and never read back."""

from __future__ import annotations

from pathlib import Path

from reflector.core.diary import Diary
from reflector.core.errors import ReflectorError
from reflector.pipelines.diary.view import readable
from reflector.runtime.diary.seeds import VIEW
from reflector.store.disk import read_regular, write_atomic

_LARGEST = 1 << 26


def write(folder: Path, diary: Diary) -> str:
    """Write the view beside the diary; return why it could not be, "" if it was.

    Whatever is in its place goes, as its first lines say. Nothing rests on it.
    """
    try:
        write_atomic(folder / VIEW, readable(diary).encode("utf-8", "replace"))
    except ReflectorError as error:
        return error.message
    return ""


def current(folder: Path, diary: Diary) -> bool:
    """Tell whether the view says what the diary says."""
    try:
        found = read_regular(folder / VIEW, _LARGEST)
    except ReflectorError:
        return False
    return found == readable(diary).encode("utf-8", "replace")
