"""Files of a work tree exchanged for others without a moment in which a person's write gets lost.

Git looks whether a file is unchanged, unlinks it and writes another: what a person saves in
between is gone. Here a file is first taken out of the way by a rename and looked at afterwards,
and its successor is linked in, which never replaces anything. Whoever had the old file open writes
into one that is still there, and that is looked at once more at the end.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are as they stand
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


class Swap:
    """One exchange: files made ready in `fresh` come in, the old ones go aside.

    `old` maps each path to what it must hold; None means that there must be no file.
    """

    def __init__(self, root: Path, folder: Path, old: Mapping[str, bytes | None]) -> None:
        """Plan; nothing is touched yet. `folder` lies on the file system of `root`."""
        self.fresh = folder / "new"
        self._root = root
        self._aside, self._returned = folder / "old", folder / "back"
        self._old = old
        self._new = read_all(self.fresh, tuple(old))
        self._taken: list[str] = []
        self._put: list[str] = []

    def do(self) -> tuple[str, ...]:
        """Exchange all; return the paths in a person's way, then with everything turned back.

        Raises OSError, with everything turned back, when the disk is full or forbids it.
        """
        try:
            # Removals first, since a folder may come where a file was, and the other way round.
            order = sorted(self._old, key=lambda path: self._new[path] is not None)
            trouble = tuple(path for path in order if not self._one(path))[:1]
        except OSError:
            self.back()
            raise
        if trouble:
            self.back()
        return trouble

    def late(self) -> tuple[str, ...]:
        """Return the old files into which somebody has written since they were taken away."""
        return tuple(path for path in self._taken if read(self._aside / path) != self._old[path])

    def back(self) -> None:
        """Undo what was done; where a person has made or changed a file meanwhile, theirs stays."""
        for path in self._put:
            if path in self._taken and exchange(self._aside / path, self._root / path):
                if read(self._aside / path) != self._new[path]:
                    exchange(self._aside / path, self._root / path)
                continue
            kept = self._returned / path
            if self._take(path, kept) and read(kept) != self._new[path]:
                self._link(kept, path)
            self._remove_empty(path)
        for path in self._taken:
            self._link(self._aside / path, path)
        self._put, self._taken = [], []

    def _one(self, path: str) -> bool:
        if self._old[path] is None:
            return self._in(path)
        if self._new[path] is not None and self._exchanged(path):
            self._put.append(path)
        elif not self._take(path, self._aside / path):
            return False
        self._taken.append(path)
        if read(self._aside / path) != self._old[path]:
            return False
        return path in self._put or self._in(path)

    def _exchanged(self, path: str) -> bool:
        # Put where the old file belongs beforehand: once they have changed places nothing may fail.
        aside = self._aside / path
        aside.parent.mkdir(parents=True, exist_ok=True)
        (self.fresh / path).rename(aside)
        if exchange(aside, self._root / path):
            return True
        aside.rename(self.fresh / path)
        return False

    def _in(self, path: str) -> bool:
        if self._new[path] is None:
            self._remove_empty(path)
            return True
        if not self._link(self.fresh / path, path):
            return False
        self._put.append(path)
        (self.fresh / path).unlink()
        return True

    def _take(self, path: str, aside: Path) -> bool:
        aside.parent.mkdir(parents=True, exist_ok=True)
        try:
            (self._root / path).rename(aside)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _link(self, source: Path, path: str) -> bool:
        place = self._root / path
        if any((self._root / folder).is_symlink() for folder in Path(path).parents[:-1]):
            return False  # committed by hand, it may lead out of the repository
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(source, place, follow_symlinks=False)
        except (FileExistsError, NotADirectoryError):
            return False
        return True

    def _remove_empty(self, path: str) -> None:
        for folder in Path(path).parents[:-1]:
            with contextlib.suppress(OSError):
                (self._root / folder).rmdir()


def exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; False where that cannot be, with nothing done."""
    names = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    with contextlib.suppress(AttributeError):  # a system or C library without it
        if sys.platform == "darwin":
            return int(library.renamex_np(*names, _EXCHANGE)) == 0
        return int(library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)) == 0
    return False


def read_all(root: Path, paths: Sequence[str]) -> dict[str, bytes | None]:
    """Return what the files at these paths hold, None where there is none."""
    return {path: read(root / path) for path in paths}


def read(place: Path) -> bytes | None:
    """Return what a regular file holds, None when there is none."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        return os.pread(descriptor, status.st_size, 0) if stat.S_ISREG(status.st_mode) else None
    finally:
        os.close(descriptor)
