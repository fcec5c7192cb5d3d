"""Rule 5: what no run may take away: boundaries, the persona, and text without a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding
from reflector.memory.document import parse
from reflector.memory.edit import Edit, lines
from reflector.memory.finding import Finding
from reflector.memory.tree import ARCHIVE, Change, is_document

BOUNDARIES = "system/boundaries.md"
PERSONA = "system/persona.md"
# A document that still holds this line was never written to by anybody; a run may replace it.
SEED_MARK = "<!-- reflector: seed -->"


def boundaries(edit: Edit) -> Iterator[Finding]:
    """Refuse every change of the user's own boundaries."""
    if any(change.path == BOUNDARIES for change in edit.changes if edit.by_run):
        yield finding("boundaries_changed", BOUNDARIES)


def persona(edit: Edit) -> Iterator[Finding]:
    """Let the persona be edited line by line only."""
    for change in edit.changes if edit.by_run else ():
        was = _prose(edit.old(change))
        if change.path != PERSONA or change.before is None or SEED_MARK in was:
            continue
        now = _prose(edit.new(change))
        kept = (was & now).total()
        if change.after is None:
            yield finding("persona_removed", PERSONA)
        elif was and not now:
            yield finding("persona_emptied", PERSONA)
        elif kept * 10 < was.total() * 6:
            yield finding("persona_rewritten", PERSONA, kept=kept, total=was.total())


def deletions(edit: Edit) -> Iterator[Finding]:
    """Ask a reason for every document that went away or lost much of its body.

    A reason is an item that starts with `forget:` or `wrong:` and names the path or none, or a new
    line of ARCHIVE.md: one that names the path, or any other, one for each deletion.
    """
    if not edit.by_run:
        return
    added = _added_prose(edit)
    archived = list(added.get(ARCHIVE, Counter[str]()).elements())
    excused = {one.path for one in edit.updates if one.reason}
    spare = [line for line in archived if not any(change.path in line for change in edit.changes)]
    for change in edit.changes:
        lost = _lost(edit, change, added)
        if not lost or excused & {"", change.path}:
            continue
        if any(change.path in line for line in archived):
            continue
        if spare:
            spare.pop()
            continue
        yield finding("unexplained_deletion", change.path, lost=lost)


def _lost(edit: Edit, change: Change, added: dict[str, Counter[str]]) -> int:
    """Return how many lines went away for good; 0 when that is no deletion."""
    if change.before is None or not is_document(change.path):
        return 0
    was, now = _prose(edit.old(change)), _prose(edit.new(change))
    lost = was.total() - now.total()
    if SEED_MARK in was or not _much(lost, was, change):
        return 0
    elsewhere = Counter[str]()
    for path, new in added.items():
        if path not in (change.path, ARCHIVE):
            elsewhere += new
    lost -= ((was - now) & elsewhere).total()
    return lost if _much(lost, was, change) else 0


def _much(lost: int, was: Counter[str], change: Change) -> bool:
    return lost * 10 > was.total() * 4 and (change.after is None or lost >= 10)


def _added_prose(edit: Edit) -> dict[str, Counter[str]]:
    found = {one.path: _prose(edit.new(one)) - _prose(edit.old(one)) for one in edit.changes}
    return {path: new for path, new in found.items() if new}


def _prose(raw: bytes) -> Counter[str]:
    """Count the lines of a body that are not blank; without a readable header all is body."""
    try:
        body = parse("", raw).body.split("\n")
    except DocumentError:
        body = lines(raw)
    return Counter(line.strip() for line in body if line.strip())
