"""The token that a client of the HTTP server shows: made once, kept where only its owner reads it."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from reflector.core.ambient import Ambient
from reflector.core.errors import HomeError
from reflector.store.disk import on_disk, read_regular

NAME = "mcp-token"
_LONGEST = 1000
_TOKEN = re.compile(r"[\x21-\x7e]{16,500}\Z")


def token_at(path: Path, ambient: Ambient) -> str:
    """Return the token in a file; make both if there is none.

    Raises HomeError for what is no file, for one that others may read, or that holds no token.
    """
    if not os.path.lexists(path):
        _make(path, ambient)
    with on_disk(path):
        mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise HomeError(
            f"The token file {path} is {'a link' if stat.S_ISLNK(mode) else 'no regular file'}.",
            hint="Name the file itself, or one that is not there yet: it is made.",
            path=str(path),
        )
    raw = read_regular(path, _LONGEST) or b""
    if mode & 0o077:
        raise HomeError(
            f"The token file {path} can be read by others.",
            hint=f"`chmod 600 {path}`, and if somebody may have read it, delete it first.",
            path=str(path),
        )
    found = raw.decode("ascii", "replace").strip()
    if not _TOKEN.match(found):
        raise HomeError(
            f"The file {path} holds no token.",
            hint="A token is one word of at least 16 characters. Delete the file for a new one.",
            path=str(path),
        )
    return found


def _make(path: Path, ambient: Ambient) -> None:
    """Write a fresh token. Of two servers that start at once both use the one that came first."""
    if not path.parent.is_dir():
        raise HomeError(
            f"The token file {path} lies in a folder that is not there.",
            hint=f"`mkdir -m 700 {path.parent}` makes it.",
            path=str(path),
        )
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with on_disk(path):
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write(ambient.chance.hex(64) + "\n")
            with suppress(FileExistsError):
                os.link(beside, path)
        finally:
            beside.unlink()
