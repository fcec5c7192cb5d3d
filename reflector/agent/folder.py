"""Files below one folder, opened name by name so that no link below it is ever followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 256 * 1024


class Folder:
    """A worktree's files. Paths are relative, with `/`, and come from our own code."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None when it is not there. Raises OSError for anything else."""
        try:
            with self._parent(path, make=False) as (parent, name):
                handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(f"{path} is not a regular file")
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise OSError(f"{path} is larger than a document may be")
        return raw

    def write(self, path: str, raw: bytes) -> None:
        """Write a file, with the folders above it. The worktree is thrown away after a crash."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with self._parent(path, make=True) as (parent, name):
            handle = os.open(name, flags, 0o644, dir_fd=parent)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)

    def remove(self, path: str) -> None:
        """Remove a file. Raises OSError when it is not there or is a folder."""
        with self._parent(path, make=False) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def put(self, files: Mapping[str, bytes | None]) -> None:
        """Write files by their paths, and remove those without content."""
        for path, raw in files.items():
            if raw is None:
                self.remove(path)
            else:
                self.write(path, raw)

    def files(self) -> Iterator[str]:
        """Yield the paths of all regular files, sorted by folder; git's own are left out."""
        for above, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith(".git"))
            for name in sorted(names):
                place = os.path.join(above, name)  # noqa: PTH118 - the walk gives text
                if name != ".git" and stat.S_ISREG(os.lstat(place).st_mode):
                    yield os.path.relpath(place, self.root).replace(os.sep, "/")

    def _parent(self, path: str, *, make: bool) -> _Parent:
        return _Parent(self.root, path, make=make)


class _Parent:
    """The open folder that holds a path, and the path's last name."""

    def __init__(self, root: Path, path: str, *, make: bool) -> None:
        *self.folders, self.name = path.split("/")
        self.root = root
        self.make = make
        self.handle = -1

    def __enter__(self) -> tuple[int, str]:
        self.handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in self.folders:
                self._descend(folder)
        except OSError:
            os.close(self.handle)
            raise
        return self.handle, self.name

    def _descend(self, folder: str) -> None:
        if self.make:
            with suppress(FileExistsError):
                os.mkdir(folder, dir_fd=self.handle)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        below = os.open(folder, flags, dir_fd=self.handle)
        os.close(self.handle)
        self.handle = below

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)
