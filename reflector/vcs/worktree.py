"""One run's worktree: its names, opened, inspected, closed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import FileStatus, Head
from reflector.vcs.reads import Reads

BRANCHES = "memory/reflection-"


@dataclass(frozen=True, slots=True)
class Worktree:
    """Where one run works. `git_dir` is its own administration inside the repository's git dir."""

    path: Path
    git_dir: Path
    branch: str
    base: str

    def reads(self) -> Reads:
        """Open it, asserting that it still belongs to its repository."""
        return Reads(self.path, self.git_dir)


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a worktree holds. `tip` is where the reserved branch is, wherever HEAD may be."""

    head: Head
    tip: str | None
    status: FileStatus
    ignored: tuple[str, ...]

    @property
    def disposable(self) -> bool:
        """Whether no file in it would be lost with it; commits are for the caller to judge."""
        return self.status.clean and not self.ignored


@dataclass(frozen=True, slots=True)
class Missing:
    """The folder, or its link to the repository, is gone. `tip` is where the branch is."""

    tip: str | None
    detail: str


def name(epoch: int, run_id: str) -> str:
    """Return the folder name of a run's worktree. `epoch` counts the homes of this identity."""
    return f"{epoch}-{run_id}"


def branch(epoch: int, run_id: str) -> str:
    """Return the branch that is reserved for a run."""
    return f"{BRANCHES}{name(epoch, run_id)}"


def planned(repo: Path, folder: Path, epoch: int, run_id: str, base: str) -> Worktree:
    """Return what `create` makes for a run, whether or not it exists. `folder` holds worktrees."""
    place = name(epoch, run_id)
    git_dir = repo / ".git" / "worktrees" / place
    return Worktree(folder / place, git_dir, branch(epoch, run_id), base)


def create(git: Porcelain, worktree: Worktree) -> None:
    """Check the base out on the reserved branch. On failure neither branch nor folder is left."""
    worktree.path.parent.mkdir(parents=True, exist_ok=True)
    git.worktree_add(worktree.path, worktree.branch, worktree.base)
    if not (worktree.git_dir / "HEAD").is_file():
        # git numbers the administration when its name is taken by another path.
        git.worktree_remove(worktree.path, force=True)
        git.branch_delete(worktree.branch, worktree.base)
        raise GitError(f"The administration of {worktree.path} is not where it belongs.")


def inspect(repo: Path, worktree: Worktree) -> Inspected | Missing:
    """Look at a worktree as it is now, untracked and ignored files included."""
    with Reads(repo) as parent:
        tip = parent.resolve(f"refs/heads/{worktree.branch}")
    try:
        reads = worktree.reads()
    except GitError as error:
        return Missing(tip, error.message)
    with reads:
        return Inspected(reads.head(), tip, reads.status(), reads.ignored())


def close(git: Porcelain, worktree: Worktree, expected: str | None) -> None:
    """Remove the worktree and its registration, then its branch if it is still at `expected`.

    The caller has kept or given up what is in it: files go unasked. Safe to repeat.
    """
    if worktree.path.exists() and git.registered(worktree.path):
        git.worktree_remove(worktree.path, force=True)
    else:
        git.forget_worktree(worktree.path)
    with Reads(git.repo) as parent:
        found = parent.resolve(f"refs/heads/{worktree.branch}")
    if found is not None and expected is not None:
        git.branch_delete(worktree.branch, expected)
