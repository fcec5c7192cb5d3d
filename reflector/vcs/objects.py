"""Git objects by their bytes: every one of a repository read, new ones written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final, Literal, Self

import pygit2
from pygit2.enums import FileMode, ObjectType, RepositoryOpenFlag

from reflector.core.errors import GitError
from reflector.vcs.reads import Reads

Kind = Literal["commit", "tree", "blob", "tag"]
_TYPE: Final[dict[Kind, ObjectType]] = {
    "commit": ObjectType.COMMIT,
    "tree": ObjectType.TREE,
    "blob": ObjectType.BLOB,
    "tag": ObjectType.TAG,
}
_MANY: Final = 200
"""Files of one change from which on they are flushed together."""
_KIND: Final[dict[int, Kind]] = {int(number): kind for kind, number in _TYPE.items()}


class Objects:
    """The object database of one repository, packs included."""

    def __init__(self, repo: Path) -> None:
        """Open it; `Reads` makes sure that it is the expected one, and sets the library up."""
        with Reads(repo):
            self._repository = pygit2.Repository(str(repo), RepositoryOpenFlag.NO_SEARCH)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._repository.free()

    @contextmanager
    def in_bulk(self) -> Iterator[None]:
        """Flush what is written inside once, at the end: each by itself takes milliseconds."""
        pygit2.settings.enable_fsync_gitdir(value=False)
        try:
            yield
        finally:
            pygit2.settings.enable_fsync_gitdir(value=True)
            os.sync()

    def __iter__(self) -> Iterator[str]:
        """Yield the id of every object there is, reachable or not."""
        return (str(oid) for oid in self._repository)

    def read(self, oid: str) -> tuple[Kind, bytes]:
        """Return what an object is, and its bytes without git's header."""
        try:
            number, content = self._repository.read(oid)
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise GitError(f"The git object {oid} cannot be read.", detail=str(error)) from error
        return _KIND[number], content

    def tree_with(self, tree: str, files: Mapping[str, tuple[int, bytes] | None]) -> str:
        """Write the tree that a tree becomes with these files: mode and bytes; None removes one."""
        try:
            with self.in_bulk() if len(files) > _MANY else nullcontext():
                return self._tree_with(tree, files)
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            raise GitError("A git tree cannot be written.", detail=str(error)) from error

    def _tree_with(self, tree: str, files: Mapping[str, tuple[int, bytes] | None]) -> str:
        index = pygit2.Index()
        index.read_tree(self._repository[tree].peel(pygit2.Tree))
        for path in (path for path, file in files.items() if file is None and path in index):
            index.remove(path)
        for path, file in files.items():
            if file is not None:
                oid = self._repository.create_blob(file[1])
                index.add(pygit2.IndexEntry(path, oid, FileMode(file[0])))
        return str(index.write_tree(self._repository))

    def write(self, kind: Kind, content: bytes) -> str:
        """Write an object and return its id; one that is there already is left alone."""
        try:
            return str(self._repository.write(_TYPE[kind], content))
        except (pygit2.GitError, ValueError, OSError) as error:
            raise GitError("A git object cannot be written.", detail=str(error)) from error
