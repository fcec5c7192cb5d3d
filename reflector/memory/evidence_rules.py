"""Rule 12: what is always in context, and every skill, rests on the user's own words.

A changed path under `system/`, and a skill of which anything changed, is covered when at least one
`Updates:` item that begins with that path (for a skill: with any path of its folder) names at least
one user entry of the run's snapshots.

The page about the agent itself holds what it noticed, so it asks for something else: a line that is
new there was an observation before this run, or a person said it. One conversation, whatever is
planted in it, cannot make an observation and promote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reflector.memory.codes import finding
from reflector.memory.edit import Edit, lines
from reflector.memory.finding import Finding
from reflector.memory.tree import EXECUTABLE, Change, companion, tier

SELF_AWARE = "system/self-aware.md"
_OBSERVATIONS = "reference/self/observations.md"


def system_lines(edit: Edit) -> Iterator[Finding]:
    """Ask evidence for every added or changed line of the system tier."""
    if not edit.by_run:
        return
    moved = _moved(edit)
    for change in edit.changes:
        if tier(change.path) != "system" or change.path == SELF_AWARE:
            continue
        line = _unmoved(edit, change, moved)
        if line and not _covered(edit, change.path):
            yield finding("no_user_evidence", change.path, line)


def observations(edit: Edit) -> Iterator[Finding]:
    """Ask that what is new on the page about itself was observed before."""
    for change in edit.changes if edit.by_run else ():
        if change.path != SELF_AWARE or _covered(edit, SELF_AWARE):
            continue
        raw = edit.before.read(_OBSERVATIONS) if edit.before else None
        known = {line.strip() for line in lines(raw or b"")}
        for number, line in edit.added(change):
            if line.strip() and line.strip() not in known:
                yield finding("not_observed", SELF_AWARE, number)
                break


def skill_operations(edit: Edit) -> Iterator[Finding]:
    """Ask evidence for every skill that was made, changed or removed."""
    if not edit.by_run:
        return
    skills = {
        "/".join(change.path.split("/")[:2])
        for change in edit.changes
        if tier(change.path) == "skills"
    }
    for skill in sorted(skills):
        if not _covered(edit, skill):
            yield finding("no_user_evidence", skill)


def scripts(edit: Edit) -> Iterator[Finding]:
    """Send whatever can be executed to a person, whatever the evidence."""
    for change in edit.changes if edit.by_run else ():
        after = change.after
        if after and (companion(change.path) == "scripts" or after.mode == EXECUTABLE):
            yield finding("script_changed", change.path)


def _covered(edit: Edit, path: str) -> bool:
    return any(
        not edit.scope.user_entries.isdisjoint(item.evidence)
        for item in edit.updates
        if item.path.rstrip("/") == path or item.path.startswith(path + "/")
    )


def _moved(edit: Edit) -> Counter[str]:
    """Return the lines that left the system tier somewhere, for a dream to put elsewhere in it.

    Only there: a line of another tier came without evidence, and moving it must not make it an
    instruction.
    """
    left: Counter[str] = Counter()
    for change in edit.changes if edit.scope.moved_lines_exempt else ():
        if tier(change.path) == "system":
            left += edit.removed(change)
    return left


def _unmoved(edit: Edit, change: Change, moved: Counter[str]) -> int:
    """Return the first added line that did not move here, 0 when there is none."""
    for number, line in edit.added(change):
        if not line.strip():
            continue
        if moved[line]:
            moved[line] -= 1
        else:
            return number
    return 0
