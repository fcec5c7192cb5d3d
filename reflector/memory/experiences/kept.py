"""All experiences and facts of a memory at one moment, by their ids, and what there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflector.core.errors import DocumentError
from reflector.memory.experiences.form import FOLDERS, Layer, Stored, id_of, layer_of, parse
from reflector.memory.tree import Tree


@dataclass(frozen=True, slots=True)
class Kept:
    """Kept by id. `others` are documents of a person in their folders that are no items."""

    known: Mapping[str, Stored]
    others: tuple[DocumentError, ...] = ()

    def of(self, layer: Layer) -> list[Stored]:
        """Return the items of a layer, the newest first."""
        found = (item for item in self.known.values() if item.layer == layer)
        return sorted(found, key=lambda item: (item.created, item.id), reverse=True)


def kept_in(tree: Tree, *layers: Layer) -> Kept:
    """Read the items of a memory, or of some layers only.

    What cannot be read is told and left alone; of two with one id the first by path counts.
    """
    known: dict[str, Stored] = {}
    others: list[DocumentError] = []
    folders = tree.folders("")
    leaves = [
        (f"{name}/{leaf.path}", leaf)
        for name in sorted(FOLDERS[layer].rstrip("/") for layer in layers or FOLDERS)
        if name in folders
        for leaf in folders[name].leaves()
        if leaf.regular and leaf.path.endswith(".md")
    ]
    for path, leaf in sorted(leaves):
        try:
            item = parse(path, tree.reader.content(leaf.oid))
        except DocumentError as error:
            others.append(error)
        else:
            known.setdefault(item.id, item)
    return Kept(known, tuple(others))


def paths_of(tree: Tree) -> dict[str, list[str]]:
    """Return the paths of all items by their ids, from names alone; each id should have one."""
    folders = tree.folders("")
    found: dict[str, list[str]] = {}
    for name in (folder.rstrip("/") for folder in FOLDERS.values() if folder[:-1] in folders):
        for leaf in folders[name].leaves():
            path = f"{name}/{leaf.path}"
            if leaf.regular and layer_of(path) and (which := id_of(path)):
                found.setdefault(which, []).append(path)
    return {which: sorted(paths) for which, paths in found.items()}
