"""A tree laid out from a flat list of its leaves, as an index keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reflector.memory.tree import FOLDER, Leaf, Listed, ObjectReader, Tree


def laid_out(leaves: Iterable[Leaf], reader: ObjectReader) -> Tree:
    """Return the tree of these leaves; the reader holds their contents."""
    folders: dict[str, list[Listed]] = {"": []}
    for leaf in leaves:
        folder, _, name = leaf.path.rpartition("/")
        _open(folders, folder)
        folders[folder].append(Listed(name, leaf.mode, leaf.oid))
    return Tree(_oid(""), _Laid(folders, reader))


def _open(folders: dict[str, list[Listed]], path: str) -> None:
    """Make sure of a folder, and that the one above lists it."""
    if path in folders:
        return
    above, _, name = path.rpartition("/")
    _open(folders, above)
    folders[path] = []
    folders[above].append(Listed(name, FOLDER, _oid(path)))


def _oid(path: str) -> str:
    # No id of an object of git: an equal one would mean equal content.
    return f"laid:{path}"


class _Laid:
    """The folders of a list of leaves; everything else is another reader's."""

    def __init__(self, folders: dict[str, list[Listed]], below: ObjectReader) -> None:
        self._folders = folders
        self.size = below.size
        self.content = below.content

    def listing(self, oid: str) -> Sequence[Listed]:
        return self._folders[oid.removeprefix("laid:")]
