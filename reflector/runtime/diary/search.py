"""A search through every byte of a home, what git and SQLite keep packed included."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError
from reflector.core.needle import Needle
from reflector.runtime.forgetting.files import files_below, holds
from reflector.store import forgetting
from reflector.store.disk import Home
from reflector.vcs.objects import Objects


@dataclass(frozen=True, slots=True)
class Searched:
    """How much was looked at, and every place that still holds something."""

    texts: int
    files: int
    objects: int
    tables: int
    still: tuple[str, ...]


def search(home: Home, wanted: Needle) -> Searched:
    """Look for a needle everywhere below a home: file by file, row by row, object by object."""
    still: list[str] = []
    files = objects = tables = 0
    for file in files_below(home.path):
        files += 1
        if holds(file, wanted):
            still.append(str(file))
        if file.suffix == ".db":
            tables += 1
            still += forgetting.places(file, wanted.within)
    for repository in _repositories(home.path):
        objects += sum(1 for _ in _objects(repository))
        still += in_objects(repository, wanted)
    return Searched(len(wanted.texts), files, objects, tables, tuple(sorted(set(still))))


def in_objects(repository: Path, wanted: Needle) -> list[str]:
    """Return the objects of a repository that hold it, packed and loose, reachable or not."""
    found = _objects(repository)
    return [f"{repository}: {kind} {oid}" for oid, kind, content in found if wanted.within(content)]


def _repositories(folder: Path) -> Iterator[Path]:
    return (each.parent for each in sorted(folder.rglob(".git")) if each.is_dir())


def _objects(repository: Path) -> Iterator[tuple[str, str, bytes]]:
    try:
        with Objects(repository) as found:
            for oid in found:
                with contextlib.suppress(GitError):  # one that is damaged hides none of the others
                    yield oid, *found.read(oid)
    except GitError:
        return  # what is no repository was read as files
