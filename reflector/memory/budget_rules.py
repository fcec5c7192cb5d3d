"""Rule 9: the system tier keeps to its share of the block; a run keeps to what it was given."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.decision import FILES
from reflector.memory.budget import estimate_tokens
from reflector.memory.codes import finding
from reflector.memory.edit import Edit, Scope
from reflector.memory.entries import parts_of
from reflector.memory.experiences.form import layer_of
from reflector.memory.finding import Finding
from reflector.memory.sections import whole
from reflector.memory.shares import SYSTEM_TIER
from reflector.memory.stored_rules import PIPELINE as EXTRACTION
from reflector.memory.tree import Tree
from reflector.memory.view import gist, view_of

_SYSTEM = "system"


def limit_of(budget_tokens: int, max_chars: int) -> int:
    """Return the tokens that the system tier may take of a block with these limits.

    A character counts as a quarter of a token here, so that one number says both.
    """
    return min(budget_tokens, max_chars // 4) * SYSTEM_TIER // 100


def system_tier(edit: Edit) -> Iterator[Finding]:
    """Refuse a run that leaves the system tier over its share, unless it made it smaller."""
    limit = edit.scope.system_tokens
    touched = any(change.path.startswith(f"{_SYSTEM}/") for change in edit.changes)
    if not (edit.by_run and limit and touched):
        return
    tokens = tier_tokens(edit.after)
    if tokens > limit and (edit.before is None or tokens >= tier_tokens(edit.before)):
        yield finding("system_over_budget", _SYSTEM, tokens=tokens, limit=limit)


def target_only(edit: Edit) -> Iterator[Finding]:
    """Refuse a run that was given some documents and changed another."""
    mine = _given(edit.scope)
    if edit.by_run and mine is not None:
        for change in edit.changes:
            if change.path not in mine:
                yield finding("outside_target", change.path, target=edit.scope.target)
    if edit.by_run and edit.scope.pipeline == EXTRACTION:
        for change in edit.changes:
            if not (layer_of(change.path) and change.path.endswith(".md")):
                yield finding("outside_target", change.path, target="experiences and facts")


def _given(scope: Scope) -> frozenset[str] | None:
    """Return the only documents that a run may change, None for any: a bank has three."""
    if scope.pipeline == "decisions":
        return frozenset(f"{scope.target}/{name}.md" for name in FILES)
    return frozenset({scope.target}) if scope.target else None


def tier_tokens(tree: Tree) -> int:
    """Return what the system tier takes in a block, every document whole, elements included."""
    system = tree.folders("").get(_SYSTEM)
    leaves = (leaf for leaf in system.leaves() if leaf.regular) if system else ()
    gists = {
        path: found
        for leaf in leaves
        if (path := f"{_SYSTEM}/{leaf.path}")
        and (found := gist(path, tree.reader.content(leaf.oid)))
    }
    tier, _ = parts_of(view_of("", "", gists))
    return estimate_tokens("".join(map(whole, tier)))
