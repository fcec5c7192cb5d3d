"""The validator: findings about a change of the memory, and the verdict on a run (ENGINE 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import Literal

from reflector.memory import (
    budget_rules,
    chain,
    document_rules,
    evidence_rules,
    kept_rules,
    link_rules,
    path_rules,
    skill_operations,
    skill_rules,
    stored_rules,
    text_rules,
    undone_rules,
)
from reflector.memory.chain import CommitView, RunView
from reflector.memory.codes import RULES, shown
from reflector.memory.commit_message import Update
from reflector.memory.edit import Edit, Scope, compare
from reflector.memory.finding import Finding
from reflector.memory.remembering import remembered
from reflector.memory.tree import Tree

__all__ = [
    "RULES",
    "CommitView",
    "RunView",
    "Scope",
    "Verdict",
    "check",
    "check_memory",
    "check_message",
    "check_planned",
    "check_run",
]

Outcome = Literal["accept", "no_changes", "awaiting_review", "failed", "dirty_uncommitted"]


class Held(Flag):
    """Where a rule is applied."""

    COMMIT = auto()  # every commit of a run: what was in one stays in history
    TIP = auto()  # base to tip, and every change that is no run
    PLANNED = auto()  # main to the planned merge, once main has moved


@dataclass(frozen=True, slots=True)
class Rule:
    """One function over a change. Its number is the one in `RULES`, by the codes it gives."""

    judge: Callable[[Edit], Iterator[Finding]]
    held: Held


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a run, and why."""

    findings: tuple[Finding, ...]
    outcome: Outcome


_TABLE = (
    Rule(path_rules.places, Held.COMMIT | Held.PLANNED),
    Rule(path_rules.collisions, Held.COMMIT | Held.PLANNED),
    Rule(document_rules.headers, Held.TIP | Held.PLANNED),
    Rule(document_rules.protected, Held.TIP | Held.PLANNED),
    Rule(kept_rules.boundaries, Held.TIP),
    Rule(kept_rules.persona, Held.TIP),
    Rule(kept_rules.deletions, Held.TIP),
    Rule(skill_rules.form, Held.TIP | Held.PLANNED),
    Rule(skill_operations.operations, Held.TIP),
    Rule(link_rules.pointers, Held.TIP | Held.PLANNED),
    Rule(link_rules.self_aware, Held.TIP | Held.PLANNED),
    Rule(budget_rules.system_tier, Held.TIP | Held.PLANNED),
    Rule(budget_rules.target_only, Held.TIP | Held.PLANNED),
    Rule(text_rules.secrets, Held.COMMIT),
    Rule(text_rules.literals, Held.COMMIT),
    Rule(text_rules.relative_dates, Held.TIP),
    Rule(evidence_rules.system_lines, Held.TIP),
    Rule(evidence_rules.observations, Held.TIP),
    Rule(evidence_rules.skill_operations, Held.TIP),
    Rule(evidence_rules.scripts, Held.TIP),
    Rule(undone_rules.undone_lines, Held.TIP),
    Rule(stored_rules.form, Held.TIP | Held.PLANNED),
    Rule(stored_rules.twins, Held.TIP | Held.PLANNED),
    Rule(stored_rules.chains, Held.TIP | Held.PLANNED),
)


def check(
    before: Tree | None, after: Tree, scope: Scope, updates: Sequence[Update] = ()
) -> tuple[Finding, ...]:
    """Apply every rule over a change: a commit to be, a hand edit, or, without `before`, a memory.

    `updates` are the items of the commit message that explains the change.
    """
    edit = compare(before, after, scope, updates)
    return _sorted([*_judge(edit, Held.COMMIT | Held.TIP), *path_rules.sizes([edit])])


def check_memory(
    tree: Tree, paths: Sequence[str] = (), before: Tree | None = None
) -> tuple[Finding, ...]:
    """Apply every rule to a memory as a person has it, all of it or what lies at some paths.

    With `before` only what differs is judged, and what still points to what went away.
    """
    edit = compare(before, remembered(tree), Scope(writer="person"))
    chosen = tuple(change for change in edit.changes if _at(change.path, paths))
    if before is None:
        edit = replace(edit, changes=chosen)
    found = _judge(edit, Held.COMMIT | Held.TIP)
    return _sorted(one for one in found if _at(one.path, [shown(path) for path in paths]))


def check_message(message: str, scope: Scope) -> tuple[Finding, ...]:
    """Apply rules 8 and 10 to a commit message."""
    return _sorted(chain.message(message, scope))


def check_run(run: RunView) -> Verdict:
    """Judge what a run left behind."""
    broken = _sorted(chain.structure(run))
    if broken:
        return Verdict(broken, "failed")
    left = _sorted(chain.leftovers(run))
    if run.tip_tree.oid == run.base_tree.oid:
        # Nothing of such a chain is merged, so its commits are not judged.
        return Verdict(left, _outcome(left, otherwise="no_changes"))
    steps = chain.edits(run)
    whole = compare(run.base_tree, run.tip_tree, run.scope, chain.updates(run))
    found = [
        *left,
        *(one for step in steps for one in _judge(step, Held.COMMIT)),
        *_judge(whole, Held.TIP),
        *path_rules.sizes(steps),
        *chain.messages(run),
    ]
    return Verdict(_sorted(found), _outcome(found, otherwise="accept"))


def check_planned(before: Tree, planned: Tree, scope: Scope) -> tuple[Finding, ...]:
    """Judge the tree that a merge would make of a `main` that has moved since the run's base."""
    return _sorted(_judge(compare(before, planned, scope), Held.PLANNED))


def _at(path: str, places: Sequence[str]) -> bool:
    return not places or any(path == one or path.startswith(f"{one}/") for one in places)


def _judge(edit: Edit, held: Held) -> Iterator[Finding]:
    for rule in _TABLE:
        if rule.held & held:
            yield from rule.judge(edit)


def _outcome(findings: Iterable[Finding], otherwise: Outcome) -> Outcome:
    """Return the worst consequence, or what happens without one."""
    consequences = {RULES[one.code].consequence for one in findings}
    worst: tuple[Outcome, ...] = ("failed", "dirty_uncommitted", "awaiting_review")
    return next((one for one in worst if one in consequences), otherwise)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings by place; several commits may have the same."""
    return tuple(sorted(set(findings), key=lambda one: (one.path, one.line, one.code, one.message)))
