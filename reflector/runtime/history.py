"""Transcripts below folders, oldest first, and the folders where harnesses keep theirs."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import NotFoundError, TranscriptError

_SUFFIXES = (".jsonl", ".json", ".traj")
"""`x.jsonl.deleted.<time>` is a session that a person deleted, and has none of these."""

_STORES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", ("projects",)),
    "codex": ("CODEX_HOME", ".codex", ("sessions", "archived_sessions")),
    "gemini-cli": ("", ".gemini", ("tmp",)),
    "pi": ("", ".pi", ("agent/sessions",)),
}
HISTORIES = tuple(_STORES)
"""The harnesses whose own store is known."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a transcript, as it stood when it was found. Times in seconds.

    `named` tells that a person named this very file.
    """

    path: Path
    device: int
    inode: int
    size: int
    changed: float
    named: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What lies below some folders: files oldest first, what is none, what could not be listed."""

    files: tuple[Candidate, ...]
    passed_over: Mapping[str, int]
    refused: tuple[TranscriptError, ...] = ()


def stores(harness: str, environ: Mapping[str, str]) -> list[Path]:
    """Return the folders in which a harness keeps its sessions; NotFoundError when there is none."""
    variable, usual, folders = _STORES[harness]
    moved = environ.get(variable, "") if variable else ""
    base = Path(moved) if moved else Path(environ.get("HOME", "/")) / usual
    found = [base / folder for folder in folders]
    there = [each for each in found if os.path.isdir(each)]  # noqa: PTH112 - Path.is_dir raises without permission
    if not there:
        raise NotFoundError(
            f"{harness} keeps no sessions in {found[0]}.",
            hint="Name the folder: `reflector ingest FOLDER`.",
        )
    return there


def find(paths: Sequence[Path], home: Path) -> Found:
    """Find the files below folders, behind those that are named themselves.

    Below a folder no link is followed, and the home of Reflector is left alone.
    """
    folders = [each for each in paths if os.path.isdir(each)]  # noqa: PTH112 - Path.is_dir raises without permission
    named = [_named(each) for each in paths if each not in folders]
    files: dict[str, Candidate] = {}
    passed_over: Counter[str] = Counter()
    refused: list[TranscriptError] = []
    own = os.path.realpath(home)
    for folder in folders:
        for place in _names(os.path.realpath(folder), own, refused):
            if isinstance(found := _candidate(place), Candidate):
                files[place] = found
            else:
                passed_over[found] += 1
    ordered = sorted(files.values(), key=lambda each: (each.changed, each.path))
    return Found((*named, *ordered), passed_over, tuple(refused))


def _named(path: Path) -> Candidate:
    try:
        status = os.stat(path)  # noqa: PTH116 - as below
    except (OSError, ValueError):  # reading it will say why
        return Candidate(path, 0, 0, 0, 0, named=True)
    return _described(path, status, named=True)


def _names(top: str, own: str, refused: list[TranscriptError]) -> Iterator[str]:
    def unlisted(error: OSError) -> None:
        refused.append(
            TranscriptError(
                f"{error.filename} cannot be listed: {error.strerror}.",
                hint="Whatever lies in it was not read.",
                path=str(error.filename),
                errno=error.errno,
            )
        )

    if Path(top).is_relative_to(own):
        hint = "It holds no conversation that is not journaled already."
        refused.append(TranscriptError(f"{top} is Reflector's own.", hint=hint, path=top))
        return
    for where, inner, names in os.walk(top, onerror=unlisted):
        inner[:] = [each for each in inner if os.path.join(where, each) != own]  # noqa: PTH118 - called for every folder
        yield from (os.path.join(where, each) for each in names if each.endswith(_SUFFIXES))  # noqa: PTH118


def _candidate(place: str) -> Candidate | str:
    try:
        status = os.lstat(place)
    except OSError:
        return "gone"
    if stat.S_ISLNK(status.st_mode):
        return "link"
    if not stat.S_ISREG(status.st_mode):
        return "not_a_file"
    return _described(Path(place), status)


def _described(path: Path, status: os.stat_result, *, named: bool = False) -> Candidate:
    device, inode = status.st_dev, status.st_ino
    return Candidate(path, device, inode, status.st_size, status.st_mtime, named)
