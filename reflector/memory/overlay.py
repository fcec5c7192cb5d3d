"""A tree with other contents laid over it, without writing an object anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reflector.core.errors import PathError
from reflector.memory.tree import EXECUTABLE, FILE, FOLDER, Leaf, Listed, ObjectReader, Tree

Contents = Mapping[str, bytes | None]
"""New bytes by path; None removes the file."""


def overlaid(tree: Tree, contents: Contents, modes: Mapping[str, int] | None = None) -> Tree:
    """Return the tree as it is with these contents. A folder that becomes empty goes.

    A file whose mode is not given keeps it, also when it moves unchanged. Raises PathError when a
    path is a file and a folder at once.
    """
    given = modes or {}
    reader = _Overlay(tree.reader)
    moved = {
        tree.reader.content(leaf.oid): leaf.mode
        for path, content in contents.items()
        if content is None and (leaf := tree.find(path)) is not None and leaf.regular
    }
    edits: dict[str, Leaf | None] = {}
    for path, content in contents.items():
        if content is None:
            edits[path] = None
            continue
        oid = reader.add(content)
        old = tree.find(path)
        kept = old.mode if old and old.regular else moved.get(content, FILE)
        mode = EXECUTABLE if given.get(path, kept) == EXECUTABLE else FILE
        edits[path] = Leaf(path, mode, oid)
    return Tree(reader.folder(tree.oid, "", edits) or reader.keep(()), reader)


@dataclass(slots=True)
class _Overlay:
    """Objects of another reader, and the new ones."""

    below: ObjectReader
    folders: dict[str, tuple[Listed, ...]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def listing(self, oid: str) -> Sequence[Listed]:
        found = self.folders.get(oid)
        return self.below.listing(oid) if found is None else found

    def size(self, oid: str) -> int:
        found = self.files.get(oid)
        return self.below.size(oid) if found is None else len(found)

    def content(self, oid: str) -> bytes:
        found = self.files.get(oid)
        return self.below.content(oid) if found is None else found

    def add(self, content: bytes) -> str:
        """Keep a file under the id that git would give it: what did not change stays the same."""
        raw = b"blob %d\0" % len(content) + content
        oid = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        self.files[oid] = content
        return oid

    def keep(self, listing: tuple[Listed, ...]) -> str:
        oid = "overlay:" + hashlib.sha256(repr(listing).encode("utf-8", "replace")).hexdigest()
        self.folders[oid] = listing
        return oid

    def folder(self, oid: str | None, prefix: str, edits: Mapping[str, Leaf | None]) -> str | None:
        """Return the folder with the edits, whose paths are relative to it; None when empty."""
        was = tuple(self.listing(oid)) if oid is not None else ()
        listed = {one.name: one for one in was}
        inside: dict[str, dict[str, Leaf | None]] = {}
        for path, leaf in edits.items():
            name, slash, rest = path.partition("/")
            if slash:
                inside.setdefault(name, {})[rest] = leaf
            elif leaf is None and name in listed and listed[name].mode != FOLDER:
                del listed[name]
        for name, deeper in inside.items():
            self._into(listed, prefix + name, name, deeper)
        for name, leaf in edits.items():
            if leaf is not None and "/" not in name:
                _refuse(prefix + name, listed.get(name), folder=False)
                listed[name] = Listed(name, leaf.mode, leaf.oid)
        now = tuple(listed[name] for name in sorted(listed))
        if oid is not None and set(now) == set(was):
            return oid
        return self.keep(now) if now else None

    def _into(
        self, listed: dict[str, Listed], path: str, name: str, edits: Mapping[str, Leaf | None]
    ) -> None:
        old = listed.get(name)
        if any(edits.values()):
            _refuse(path, old, folder=True)
        elif old is None or old.mode != FOLDER:
            return  # what is to be removed is not there
        made = self.folder(old.oid if old else None, path + "/", edits)
        if made is None:
            del listed[name]
        else:
            listed[name] = Listed(name, FOLDER, made)


def _refuse(path: str, there: Listed | None, *, folder: bool) -> None:
    if there is None or (there.mode == FOLDER) == folder:
        return
    kind = "a file" if folder else "a folder"
    raise PathError(
        f"{path} is {kind} already.", path=path, line=0, code="path_taken", sentence="It is taken."
    )
