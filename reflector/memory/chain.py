"""Rules 1, 2 and 10: what a run left behind in git, its commits and its worktree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reflector.memory import text_rules
from reflector.memory.codes import finding
from reflector.memory.commit_message import Update, parse, problems
from reflector.memory.edit import Edit, Scope, compare
from reflector.memory.finding import Finding
from reflector.memory.tree import Tree, readable, tier

MAX_COMMITS = 20
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class CommitView:
    """One commit of a run."""

    sha: str
    parents: tuple[str, ...]
    message: str
    tree: Tree


@dataclass(frozen=True, slots=True)
class RunView:
    """What is found after a run, before anything is merged.

    `branch` is the reserved branch, `head` the ref that the worktree's HEAD points to (None when
    detached); both may be short or full. `tip` is the recorded tip. `commits` are those of
    base..tip, oldest first. `uncommitted` are tracked paths with changes, `untracked` the others
    (folders end with `/`).
    """

    branch: str
    head: str | None
    base: str
    base_tree: Tree
    tip: str
    commits: Sequence[CommitView]
    scope: Scope = field(default_factory=Scope)
    uncommitted: Sequence[str] = ()
    untracked: Sequence[str] = ()

    @property
    def tip_tree(self) -> Tree:
        """Return what would be merged."""
        return self.commits[-1].tree if self.commits else self.base_tree


def structure(run: RunView) -> Iterator[Finding]:
    """Ask that HEAD is the reserved branch, and the commits a chain from base to tip."""
    if run.head is None or run.head.removeprefix(_HEADS) != run.branch.removeprefix(_HEADS):
        found = "detached" if run.head is None else readable(run.head.removeprefix(_HEADS))
        yield finding("head_moved", found=found, wanted=run.branch.removeprefix(_HEADS))
    if len(run.commits) > MAX_COMMITS:
        yield finding("too_many_commits", count=len(run.commits), limit=MAX_COMMITS)
    expected = run.base
    for commit in run.commits:
        if len(commit.parents) > 1:
            count = len(commit.parents)
            yield finding("not_single_parent", sha=commit.sha[:12], count=count)
            return
        if commit.parents != (expected,):
            yield finding("not_from_base", base=run.base[:12])
            return
        expected = commit.sha
    if expected != run.tip and run.commits:
        yield finding("tip_mismatch", tip=run.tip[:12])
    elif expected != run.tip:
        yield finding("not_from_base", base=run.base[:12])


def leftovers(run: RunView) -> Iterator[Finding]:
    """Judge what was not committed: scratch files are set aside, memory is not."""
    for path in run.uncommitted:
        yield finding("uncommitted_change", path)
    for path in run.untracked:
        inside = tier(path.rstrip("/") + "/") is not None or tier(path) is not None
        yield finding("untracked_document" if inside else "untracked_scratch", path)


def messages(run: RunView) -> Iterator[Finding]:
    """Judge the message of every commit."""
    for commit in run.commits:
        yield from message(commit.message, run.scope)


def message(text: str, scope: Scope) -> Iterator[Finding]:
    """Judge one message, its form and what it gives away."""
    for code, line in problems(text, scope.pipeline):
        yield finding(code, line=line, wanted=scope.pipeline)
    yield from text_rules.message(text)


def edits(run: RunView) -> tuple[Edit, ...]:
    """Return what each commit changed."""
    trees = [run.base_tree, *(commit.tree for commit in run.commits)]
    pairs = itertools.pairwise(trees)
    return tuple(compare(before, after, run.scope) for before, after in pairs)


def updates(run: RunView) -> tuple[Update, ...]:
    """Return the items of all `Updates:` lists."""
    return tuple(one for commit in run.commits for one in parse(commit.message).updates)
