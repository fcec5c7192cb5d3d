"""How a hook that has a prompt is answered, and what is kept of what its session was shown."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from reflector.core.errors import HomeError
from reflector.runtime import beside
from reflector.runtime.recall import note_uses
from reflector.runtime.wiring import Context
from reflector.store.disk import read_regular

FOLDER = "beside"
"""Beside the blocks: a file for each session, with the marks of what it was shown. Derived."""

_MOST_BYTES = 1 << 16
_MOST_FILES = 64


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook is told: a line with the size of the text, a line of marks, the text."""

    raw: bytes
    shown: beside.Shown


def answer(context: Context, session: str, cwd: Path | None, prompt: BinaryIO) -> Said:
    """Read a prompt and say what is shown beside it; the hook keeps the marks if it shows it."""
    text = prompt.read(beside.LONGEST * 4).decode("utf-8", "replace")
    shown = beside.shown(context, session, cwd, text, _marks(context, session))
    body = f"{' '.join(shown.marks)}\n{shown.text}".encode("utf-8", "replace")
    return Said(b"%d\n%s" % (len(body), body) if shown.text else b"0\n", shown)


def served(context: Context, session: str, said: Said) -> None:
    """Note what was used of the memory, and remove the files of sessions that are long over."""
    if said.shown.text:
        note_uses(context, said.shown.paths, session)
        with contextlib.suppress(OSError):
            _prune(context.agent.path / FOLDER)


def _marks(context: Context, session: str) -> frozenset[str]:
    try:
        raw = read_regular(context.agent.path / FOLDER / session, _MOST_BYTES) or b""
    except (HomeError, OSError, ValueError):
        return frozenset()
    return frozenset(raw.decode("ascii", "replace").split())


def _prune(folder: Path) -> None:
    files = sorted(os.scandir(folder), key=lambda each: each.stat(follow_symlinks=False).st_mtime)
    for each in files[:-_MOST_FILES]:
        os.unlink(each.path)  # noqa: PTH108 - an entry of scandir is no Path
