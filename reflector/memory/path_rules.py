"""Rule 3: which paths a memory may hold, with which modes, sizes and bytes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from reflector.core.errors import DocumentError, PathError
from reflector.memory.codes import finding, shown
from reflector.memory.document import decode
from reflector.memory.edit import MAX_FILE, Edit
from reflector.memory.finding import Finding
from reflector.memory.tree import (
    EXECUTABLE,
    FOLDERS,
    SUBMODULE,
    SYMLINK,
    Change,
    Leaf,
    companion,
    is_document,
    parse_path,
    tier,
)

MAX_RUN = 1024 * 1024
SEEDS = (".gitignore", ".gitattributes")


def places(edit: Edit) -> Iterator[Finding]:
    """Judge every changed path and what stands there now."""
    for change in edit.changes:
        if change.path in SEEDS:
            if edit.by_run:
                yield finding("seed_changed", change.path)
        elif change.after is not None:
            yield from _path(change.path, change.after)
            yield from _leaf(edit, change, change.after)


def collisions(edit: Edit) -> Iterator[Finding]:
    """Find new names, of folders too, that some file systems cannot tell from a name beside them."""
    named: dict[str, set[str]] = {}
    for change in edit.changes:
        parts = change.path.split("/") if change.after else []
        for depth in range(len(parts)):
            named.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    for folder, names in named.items():
        yield from _collisions(edit, folder + "/" if folder else "", names)


def sizes(edits: Sequence[Edit]) -> Iterator[Finding]:
    """Bound what one run writes, over all its commits."""
    written = {
        change.after.oid: edit.after.reader.size(change.after.oid)
        for edit in edits
        if edit.by_run and edit.before is not None
        for change in edit.changes
        if change.after and change.after.regular
    }
    # A file that is too large by itself has been named already.
    total = sum(size for size in written.values() if size <= MAX_FILE)
    if total > MAX_RUN:
        yield finding("run_too_large", size=total, limit=MAX_RUN)


def _path(path: str, leaf: Leaf) -> Iterator[Finding]:
    try:
        parse_path(path)
    except PathError as error:
        yield finding(str(error.facts["code"]), path, sentence=_sentence(error))
        return
    if tier(path) is None:
        yield finding("outside_layout", path, folders=", ".join(f"{one}/" for one in FOLDERS))
    elif leaf.regular and not is_document(path) and companion(path) is None:
        yield finding("not_a_document", path)


def _leaf(edit: Edit, change: Change, leaf: Leaf) -> Iterator[Finding]:
    if leaf.mode == SYMLINK:
        yield finding("symlink", change.path)
    elif leaf.mode == SUBMODULE:
        yield finding("submodule", change.path)
    elif not leaf.regular:
        yield finding("bad_mode", change.path, mode=f"{leaf.mode:06o}")
    else:
        if leaf.mode == EXECUTABLE and companion(change.path) != "scripts":
            yield finding("executable", change.path)
        size = edit.after.reader.size(leaf.oid)
        if size > MAX_FILE:
            yield finding("file_too_large", change.path, size=size, limit=MAX_FILE)
        else:
            yield from _bytes(change.path, edit.new(change))


def _bytes(path: str, raw: bytes) -> Iterator[Finding]:
    try:
        text = decode(path, raw)
    except DocumentError as error:
        yield finding("not_utf8", path, int(str(error.facts["line"])), sentence=_sentence(error))
        return
    if "\0" in text:
        yield finding("nul_byte", path, text.count("\n", 0, text.index("\0")) + 1)
    elif "\r" in text:
        yield finding("not_lf", path, text.count("\n", 0, text.index("\r")) + 1)
    if line := _conflict(text):
        yield finding("conflict_marker", path, line)


def _conflict(text: str) -> int:
    """Return the line where a conflict begins, 0 when all three markers are not there in order."""
    start, divided = 0, False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("<<<<<<< "):
            start, divided = start or number, False
        elif start and line.rstrip("\r") == "=======":
            divided = True
        elif divided and line.startswith(">>>>>>> "):
            return start
    return 0


def _collisions(edit: Edit, prefix: str, names: set[str]) -> Iterator[Finding]:
    twins: dict[str, list[str]] = {}
    for path in edit.after.paths_beside(prefix):
        name = path.removeprefix(prefix)
        twins.setdefault(_key(name), []).append(name)
    for name in sorted(names):
        others = list(twins.get(_key(name), ()))
        others.remove(name)
        for other in others:
            if other in names and other > name:
                continue  # both are new: one of them is named
            yield finding("path_collision", prefix + name, other=shown(other))


def _key(name: str) -> str:
    """Return what a case-folding or normalising file system makes of a name."""
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFC", folded)


def _sentence(error: DocumentError) -> str:
    text = str(error.facts["sentence"])
    return text[:1].upper() + text[1:]
