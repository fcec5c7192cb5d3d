"""A reader that remembers: several rules look at the same files, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.memory.tree import Listed, ObjectReader, Tree

_MOST_BYTES = 64 * 1024 * 1024


def remembered(tree: Tree) -> Tree:
    """Return the same tree, whose files are fetched once as far as 64 MiB go."""
    return Tree(tree.oid, _Remembering(tree.reader))


class _Remembering:
    """Another reader's files. Equal ids mean equal content, so nothing ever gets stale."""

    def __init__(self, below: ObjectReader) -> None:
        self._below = below
        self._contents: dict[str, bytes] = {}
        self._sizes: dict[str, int] = {}
        self._left = _MOST_BYTES

    def listing(self, oid: str) -> Sequence[Listed]:
        return self._below.listing(oid)

    def size(self, oid: str) -> int:
        found = self._sizes.get(oid)
        if found is None:
            found = self._sizes[oid] = self._below.size(oid)
        return found

    def content(self, oid: str) -> bytes:
        found = self._contents.get(oid)
        if found is None:
            found = self._below.content(oid)
            if len(found) <= self._left:
                self._left -= len(found)
                self._contents[oid] = found
        return found
