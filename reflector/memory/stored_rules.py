"""Rule 14: experiences and facts read back as what they are, and what replaced what says so twice."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding, shown
from reflector.memory.edit import MAX_FILE, Edit
from reflector.memory.experiences.chains import broken
from reflector.memory.experiences.form import Stored, id_of, layer_of, parse
from reflector.memory.experiences.kept import paths_of
from reflector.memory.finding import Finding
from reflector.memory.tree import Change, Tree

PIPELINE = "experiences"
_OURS = "stored_broken"


def form(edit: Edit) -> Iterator[Finding]:
    """Refuse what a run of `experiences` wrote and cannot be read as what it is to be.

    A person may keep other documents there, and is told; other runs are when they break an item.
    """
    for change in edit.changes:
        fault = _fault(change.path, edit.new(change)) if _judged(edit, change) else None
        if fault is None or fault.facts["code"] != _OURS:  # of any other rule 4 has told
            continue
        line, sentence = int(str(fault.facts["line"])), fault.facts["sentence"]
        if _extracted(edit):
            yield finding(_OURS, change.path, line, sentence=sentence)
        elif not edit.by_run or _fault(change.path, edit.old(change)) is None:
            yield finding("stored_lacking", change.path, line, sentence=sentence)


def twins(edit: Edit) -> Iterator[Finding]:
    """Find what has the id of another: commands would reach one of the two alone."""
    changed = (each for each in edit.changes if each.before is None and _judged(edit, each))
    new = [change.path for change in changed if id_of(change.path)]
    paths, fresh = paths_of(edit.after) if new else {}, frozenset(new)
    for path in new:
        # Of two that are both new one is named.
        others = (each for each in paths[id_of(path)] if each < path or each not in fresh)
        if other := next((each for each in others if each != path), ""):
            code = "stored_twin" if _extracted(edit) else "stored_copied"
            yield finding(code, path, other=shown(other))


def chains(edit: Edit) -> Iterator[Finding]:
    """Ask that a replacement stands on both sides, leads somewhere and never back (F135)."""
    changed = [item for change in edit.changes if (item := _item(edit, change)) is not None]
    if not any(item.supersedes or item.superseded_by for item in changed):
        return
    known = {item.id: item for item in changed}
    near = _Near(edit.after)
    for item in changed:
        near.bring(known, item)
    for item in changed:
        for sentence in broken(known, item):
            code = "chain_broken" if _extracted(edit) else "chain_loose"
            yield finding(code, item.path, 1, sentence=sentence)


class _Near:
    """The items that others name, read from a tree as far as they are asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths = paths_of(tree)

    def bring(self, known: dict[str, Stored], item: Stored) -> None:
        """Add what an item replaced, and everything that replaced it."""
        for which in item.supersedes:
            self._add(known, which)
        seen: set[str] = set()
        which = item.superseded_by
        while which and which not in seen:
            seen.add(which)
            self._add(known, which)
            which = known[which].superseded_by if which in known else ""

    def _add(self, known: dict[str, Stored], which: str) -> None:
        path = next(iter(self._paths.get(which, ())), "")
        raw = self._tree.read(path) if path and which not in known else None
        if path and raw is not None:
            try:
                known[which] = parse(path, raw)
            except DocumentError:
                return


def _fault(path: str, raw: bytes) -> DocumentError | None:
    try:
        parse(path, raw)
    except DocumentError as error:
        return error
    return None


def _extracted(edit: Edit) -> bool:
    return edit.by_run and edit.scope.pipeline == PIPELINE


def _judged(edit: Edit, change: Change) -> bool:
    leaf = change.after
    if leaf is None or not leaf.regular or not change.path.endswith(".md"):
        return False
    return layer_of(change.path) is not None and edit.after.reader.size(leaf.oid) <= MAX_FILE


def _item(edit: Edit, change: Change) -> Stored | None:
    try:
        raw = edit.new(change) if _judged(edit, change) else b""
        # To parse thousands that have no link at all would take as long as all other rules.
        return parse(change.path, raw) if b"supersede" in raw else None
    except DocumentError:
        return None
