"""Whether a file is surely nobody's change: judged by content, without git."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from reflector.memory.tree import EXECUTABLE, FILE, Leaf


def untouched(root: Path, path: str, staged: Leaf | None, committed: Leaf | None) -> bool:
    """Tell whether a path is as committed, here and in the index, or used by nothing at all.

    False is no judgement: then git has to look.
    """
    place = root / path
    if any(up.is_symlink() or up.is_file() for up in place.parents[: path.count("/")]):
        return False
    if staged is None:
        return committed is None and not os.path.lexists(place)
    if committed != staged or place.is_symlink() or not place.is_file():
        return False
    content = place.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    mode = EXECUTABLE if place.stat().st_mode & stat.S_IXUSR else FILE
    return (staged.mode, staged.oid) == (mode, blob)
