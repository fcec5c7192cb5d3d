"""The validator put to what a run left in git."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reflector.memory.budget_rules import limit_of
from reflector.memory.chain import CommitView, RunView
from reflector.memory.edit import Scope
from reflector.memory.rules import RULES, Verdict, check_planned, check_run
from reflector.memory.tree import Tree
from reflector.runtime.settings import Settings
from reflector.vcs.port import FileStatus, Head
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Worktree

_MOST_SAID = 10


def scope_of(
    pipeline: str,
    user_entries: tuple[str, ...],
    unwanted: frozenset[str] = frozenset(),
    system_tokens: int = 0,
    target: str = "",
) -> Scope:
    """Return what a run of this pipeline may rest on, and the lines that a person took back.

    `system_tokens` is what it may leave in the system tier, 0 for any number; `target` the only
    document that it may change, "" for any.
    """
    return Scope(
        pipeline=pipeline,
        writer="run",
        user_entries=frozenset(user_entries),
        moved_lines_exempt=pipeline == "dream",
        unwanted=unwanted,
        system_tokens=system_tokens,
        target=target,
    )


def system_limit(settings: Settings) -> int:
    """Return the tokens that the system tier may take of the block, as it is shown."""
    budget = settings.number("prompt.budget_tokens")
    return limit_of(budget, settings.number("prompt.max_chars"))


def judge(place: Worktree, tip: str, scope: Scope) -> Verdict:
    """Judge a run by its worktree: HEAD, commits, and what was not committed."""
    with place.reads() as reads:
        return check_run(_view(reads, place, tip, scope, reads.head(), reads.status()))


@dataclass(frozen=True, slots=True)
class Kept:
    """A tip that was validated before and whose worktree is gone."""

    branch: str
    base: str
    tip: str


def judge_kept(reads: Reads, kept: Kept, scope: Scope) -> Verdict:
    """Judge a kept tip again, from its commits alone."""
    head = Head(kept.branch, kept.tip)
    place = Worktree(reads.path, reads.git_dir, kept.branch, kept.base)
    return check_run(_view(reads, place, kept.tip, scope, head, FileStatus()))


def _view(
    reads: Reads, place: Worktree, tip: str, scope: Scope, head: Head, status: FileStatus
) -> RunView:
    # No chain: base is no ancestor of the tip, and the validator says so of an empty one.
    commits = reads.chain(place.base, tip) or ()
    return RunView(
        branch=place.branch,
        head=head.branch,
        base=place.base,
        base_tree=reads.tree(place.base),
        tip=tip,
        commits=[
            CommitView(each.sha, each.parents, each.message, Tree(each.tree, reads))
            for each in commits
        ],
        scope=scope,
        uncommitted=(*status.staged, *status.unstaged),
        untracked=status.untracked,
    )


def reasons(findings: Iterable[Mapping[str, str | int]]) -> tuple[str, ...]:
    """Return what only a person can let pass: each sentence once, after the places it is said of."""
    said: dict[str, dict[str, list[str]]] = {}
    for each in findings:
        row = RULES.get(str(each["code"]))
        if row and row.consequence == "awaiting_review":
            places = said.setdefault(str(each["message"]), {})
            places.setdefault(str(each["path"]), []).append(str(each["line"]))
    return tuple(f"{_places(places)} {message}" for message, places in said.items())


def _places(lines: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{path}:{','.join(numbers)}" for path, numbers in lines.items())


def judge_planned(reads: Reads, ours: str, tree: str, scope: Scope) -> list[str]:
    """Judge the tree of a merge with a main that moved; return the errors as sentences."""
    found = check_planned(reads.tree(ours), Tree(tree, reads), scope)
    return [f"{each.path}: {each.message}" for each in found if each.severity == "error"]


def together(sentences: Sequence[str]) -> str:
    """Join what is wrong for a person to read: the first few, and how many more there are."""
    more = len(sentences) - _MOST_SAID
    return "; ".join((*sentences[:_MOST_SAID], *([f"and {more} more"] if more > 0 else ())))
