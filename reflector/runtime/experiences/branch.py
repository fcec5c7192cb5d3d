"""The branch that a project was on when a conversation worked in it, from files alone."""

from __future__ import annotations

from pathlib import Path

from reflector.core.ambient import instant
from reflector.core.errors import HomeError
from reflector.store.disk import read_regular
from reflector.store.short_memory import project_root

_BYTES = 1 << 14
_REF = "ref: refs/heads/"


def branch_at(folder: str, when: str) -> str:
    """Return the branch of a folder's working tree at an instant, "" when nobody can tell.

    git writes HEAD anew with every switch: one that was written later says nothing about then.
    """
    root = project_root(folder) if folder else None
    if root is None or not when:
        return ""
    try:
        head = _git_folder(Path(root)) / "HEAD"
        if head.stat().st_mtime > instant(when).timestamp():
            return ""
        text = (read_regular(head, _BYTES) or b"").decode("utf-8", "replace").strip()
    except (HomeError, OSError, ValueError):
        return ""
    return text.removeprefix(_REF) if text.startswith(_REF) else ""


def _git_folder(root: Path) -> Path:
    mark = root / ".git"
    if mark.is_dir():
        return mark
    pointer = (read_regular(mark, _BYTES) or b"").decode("utf-8", "surrogateescape")
    return root / pointer.removeprefix("gitdir:").strip()
