"""The commit of main, for commands that live too short to import a git library."""

from __future__ import annotations

import re
from pathlib import Path

from reflector.vcs.port import MAIN

_SHA = re.compile(rb"[0-9a-f]{40}\Z")


def main_commit(repo: Path) -> str | None:
    """Return the sha that the files of a repository name; None whenever that is not plain."""
    git = repo / ".git"
    try:
        loose = (git / MAIN).read_bytes().strip()
    except OSError:
        loose = _packed(git)
    return loose.decode() if _SHA.match(loose) else None


def _packed(git: Path) -> bytes:
    try:
        lines = (git / "packed-refs").read_bytes().split(b"\n")
    except OSError:
        return b""
    ours = (line for line in lines if line.endswith(b" " + MAIN.encode()))
    return next(ours, b"").partition(b" ")[0]
