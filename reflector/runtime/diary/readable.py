"""The view of the diary that a person can leaf through: README.md, written and never read back."""

from __future__ import annotations

from pathlib import Path

from reflector.core.diary import Diary
from reflector.core.errors import ReflectorError
from reflector.pipelines.diary.view import readable
from reflector.runtime.diary.seeds import VIEW
from reflector.store.disk import write_atomic


def write(folder: Path, diary: Diary) -> str:
    """Write the view beside the diary; return why it could not be, "" if it was.

    Whatever is in its place goes, as its first lines say. Nothing rests on it.
    """
    try:
        write_atomic(folder / VIEW, readable(diary).encode("utf-8", "replace"))
    except ReflectorError as error:
        return error.message
    return ""
