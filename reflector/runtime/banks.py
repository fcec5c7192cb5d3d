"""The bank of a working directory, from its files alone: no git is asked, nothing is run."""

from __future__ import annotations

from pathlib import Path

from reflector.core.bank import bank_id, canonical, remote_of
from reflector.core.errors import HomeError
from reflector.core.redact import redact
from reflector.store.disk import read_regular
from reflector.store.short_memory import project_root

_CONFIG_BYTES = 1 << 20
_POINTER_BYTES = 1 << 14


def bank_of(start: Path | None) -> str:
    """Return the bank of a session that starts in a directory, "" when it has none."""
    root = project_root(str(start)) if start else None
    if root is None:
        return ""
    common = common_dir(Path(root))
    remote = canonical(remote_of(_text(common / "config", _CONFIG_BYTES))) if common else ""
    if remote:
        return _named(remote.rpartition("/")[2], remote)
    if common:
        place = common.parent if common.name == ".git" else common
        return _named(place.name, str(common))
    return _named(Path(root).name, root)


def _named(name: str, identity: str) -> str:
    return bank_id(redact(name).text, identity)  # a name on disk can hold a secret


def common_dir(root: Path) -> Path | None:
    """Return the git folder that a project's worktrees share, None when there is no repository."""
    mark = root / ".git"
    if mark.is_dir():
        own = mark
    elif pointer := _text(mark, _POINTER_BYTES):
        own = root / pointer.removeprefix("gitdir:").strip()
    else:
        return None
    shared = _text(own / "commondir", _POINTER_BYTES).strip()
    try:
        return (own / shared).resolve() if shared else own.resolve()
    except (OSError, RuntimeError, ValueError):  # loops of links, no path at all
        return None


def _text(path: Path, limit: int) -> str:
    try:
        raw = read_regular(path, limit)
    except (HomeError, OSError, ValueError):
        return ""
    return (raw or b"").decode("utf-8", "surrogateescape")
