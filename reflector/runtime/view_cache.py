"""What the block needs of every document, kept by tree: a commit costs only what it changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reflector.core.cleaning import clean
from reflector.core.errors import GitError, ReflectorError
from reflector.memory.tree import Leaf, Tree, changes, is_document
from reflector.memory.view import Gist, gist
from reflector.runtime.wiring import Context
from reflector.store.disk import make_folder, read_regular, write_atomic
from reflector.vcs.port import MAIN
from reflector.vcs.tip import main_commit

if TYPE_CHECKING:
    from reflector.vcs.reads import Reads

_FORMAT = b"reflector-view 3"
_LARGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class Viewed:
    """The documents of one commit as far as the block needs them."""

    commit: str
    tree: str
    gists: Gists


class Gists(Mapping[str, Gist]):
    """What is known of every document, by path: rows that are read when they are asked for.

    Reading thousands of them costs more than all the rest of a compilation, and a block shows a few
    dozen. A row is the path as JSON, a tab, and the rest as JSON.
    """

    def __init__(self, rows: dict[str, bytes]) -> None:
        """Take each document's row by its path."""
        self.rows = rows

    def __getitem__(self, path: str) -> Gist:
        """Return what is known of one document."""
        _, _, known = self.rows[path].partition(b"\t")
        description, text = json.loads(known.decode("utf-8", "surrogatepass"))
        return description, text

    def __iter__(self) -> Iterator[str]:
        """Go through the paths."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self.rows)


def viewed(context: Context) -> Viewed:
    """Return the documents of main. Only what a commit changed is read and parsed.

    Raises GitError when there is no commit on main.
    """
    kept = _load(_file(context))
    commit = main_commit(context.agent.repo)
    if kept and commit == kept.commit:
        return kept
    from reflector.vcs.reads import Reads  # noqa: PLC0415 - costs more than everything else here

    with Reads(context.agent.repo) as reads:
        found = _read(context, reads, kept)
    _save(_file(context), found)
    return found


def drop(context: Context) -> None:
    """Remove what was kept: the next look reads everything."""
    with contextlib.suppress(OSError):
        _file(context).unlink(missing_ok=True)


def gists_of(tree: Tree) -> dict[str, Gist]:
    """Read every document of a tree."""
    return {leaf.path: read for leaf in tree.leaves() if (read := _gist(tree, leaf))}


def _gist(tree: Tree, leaf: Leaf | None) -> Gist | None:
    if leaf is None or not leaf.regular or not is_document(leaf.path):
        return None
    found = gist(leaf.path, tree.reader.content(leaf.oid))
    if found is None or clean(leaf.path) != leaf.path:
        return None  # what is kept here is kept without secrets, and a name is needed as it is
    description, text = found
    return clean(description), clean(text)


def _read(context: Context, reads: Reads, kept: Viewed | None) -> Viewed:
    commit = reads.resolve(MAIN)
    if commit is None:
        raise GitError(f"The memory {context.agent.repo} has no commit on main.")
    tree = reads.tree(commit)
    if kept:
        # A tree that git has thrown away since cannot be compared with.
        with contextlib.suppress(GitError):
            return Viewed(commit, tree.oid, _updated(kept, tree))
    rows = {path: _row(path, found) for path, found in gists_of(tree).items()}
    return Viewed(commit, tree.oid, Gists(rows))


def _updated(kept: Viewed, tree: Tree) -> Gists:
    rows = dict(kept.gists.rows)
    for change in changes(Tree(kept.tree, tree.reader), tree):
        rows.pop(change.path, None)
        if found := _gist(tree, change.after):
            rows[change.path] = _row(change.path, found)
    return Gists(rows)


def _file(context: Context) -> Path:
    return context.agent.path / "blocks" / "view"


def _load(file: Path) -> Viewed | None:
    """Read what was kept. What another version wrote, or a crash tore, counts as nothing."""
    try:
        raw = read_regular(file, _LARGEST) or b""
        head, _, body = raw.partition(b"\n")
        if head != _head(body):
            return None
        ids, *rows = body.split(b"\n")
        commit, tree = ids.decode().split(" ")
        return Viewed(commit, tree, Gists({_path(row): row for row in rows}))
    except (ReflectorError, ValueError):
        return None


def _save(file: Path, found: Viewed) -> None:
    body = b"\n".join([f"{found.commit} {found.tree}".encode(), *found.gists.rows.values()])
    with contextlib.suppress(OSError, ReflectorError):  # a cache that cannot be written is none
        make_folder(file.parent)
        write_atomic(file, _head(body) + b"\n" + body)


def _row(path: str, found: Gist) -> bytes:
    # Readable text: who looks for a word in every file must find it here as well.
    name, known = (json.dumps(each, ensure_ascii=False) for each in (path, found))
    return f"{name}\t{known}".encode("utf-8", "surrogatepass")


def _path(row: bytes) -> str:
    name = row[: row.index(b"\t")].decode("utf-8", "surrogatepass")
    return json.loads(name) if "\\" in name else name[1:-1]


def _head(body: bytes) -> bytes:
    return b"%s %s" % (_FORMAT, hashlib.blake2b(body, digest_size=16).hexdigest().encode())
