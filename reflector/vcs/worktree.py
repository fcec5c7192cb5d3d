"""One run's worktree: its names, opened, inspected, closed."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.porcelain import Porcelain, writes_plainly
from reflector.vcs.port import FileStatus, Head
from reflector.vcs.reads import Reads
from reflector.vcs.writes import Writes

BRANCHES = "memory/reflection-"

_SMALL_INDEX = 60_000
"""Bytes of the index of about 600 documents. Up to there the library checks out sooner than git."""


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

    def writes(self) -> Writes:
        """Open it for a change, and assert as `reads` does."""
        return Writes(self.path, self.git_dir)


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
    if not _created_by_library(git, worktree):
        git.worktree_add(worktree.path, worktree.branch, worktree.base)
    if not (worktree.git_dir / "HEAD").is_file():
        # git numbers the administration when its name is taken by another path.
        git.worktree_remove(worktree.path, force=True)
        git.branch_delete(worktree.branch, worktree.base)
        raise GitError(f"The administration of {worktree.path} is not where it belongs.")


def _created_by_library(git: Porcelain, worktree: Worktree) -> bool:
    """Create a small worktree without starting git. False: nothing was made, git has to see to it."""
    index = git.git_dir / "index"
    if any(map(os.path.lexists, (worktree.path, worktree.git_dir))) or not index.is_file():
        return False
    if index.stat().st_size > _SMALL_INDEX:
        return False
    try:
        with Writes(git.repo) as writes:
            if not writes_plainly(writes.settings(git.git_dir / "config")):
                return False
            writes.add_worktree(worktree.path, worktree.branch, worktree.base)
    except GitError:
        for place in (worktree.path, worktree.git_dir):
            shutil.rmtree(place, ignore_errors=True)
        return False
    return True


def inspect(repo: Path, worktree: Worktree) -> Inspected | Missing:
    """Look at a worktree as it is now, untracked and ignored files included."""
    with Reads(repo) as parent:
        tip = parent.resolve(f"refs/heads/{worktree.branch}")
    try:
        reads = worktree.reads()
    except GitError as error:
        return Missing(tip, error.message)
    with reads:
        return Inspected(reads.head(), tip, *reads.status_and_ignored())


def close(git: Porcelain, worktree: Worktree, expected: str | None) -> None:
    """Remove the worktree and its registration, then its branch if it is still at `expected`.

    The caller has kept or given up what is in it: files go unasked. Safe to repeat.
    """
    if not _removed_by_hand(worktree):
        if worktree.path.exists() and git.registered(worktree.path):
            git.worktree_remove(worktree.path, force=True)
        else:
            git.forget_worktree(worktree.path)
        _forget_the_rest(worktree)
    if expected is None:
        return
    ref = f"refs/heads/{worktree.branch}"
    with Writes(git.repo) as parent:
        gone = parent.resolve(ref) is None or parent.move_ref(ref, expected, None)
    if not gone:
        git.branch_delete(worktree.branch, expected)


def _forget_the_rest(worktree: Worktree) -> None:
    """Remove what is left of a registration whose removal was cut off: git knows it no more."""
    if worktree.path.exists() or (worktree.git_dir / "gitdir").exists():
        return
    if worktree.git_dir.is_dir() and not worktree.git_dir.is_symlink():
        shutil.rmtree(worktree.git_dir)


def _forgotten(worktree: Worktree, registered: Path) -> bool:
    """Drop the registration of a folder that is gone; git would look through all the others."""
    same = registered.parent.resolve() == worktree.path.resolve()
    if not same or (worktree.git_dir / "locked").exists():
        return False
    shutil.rmtree(worktree.git_dir)
    return True


def _removed_by_hand(worktree: Worktree) -> bool:
    """Remove folder and registration, in git's order and without starting it.

    False when anything is not as `create` left it: then git has to judge. Its lock file is respected.
    """
    own, link = worktree.git_dir / "gitdir", worktree.path / ".git"
    try:
        there = Path(own.read_text("utf-8", "surrogateescape").strip())
        if not os.path.lexists(worktree.path):
            return _forgotten(worktree, there)
        back = Path(link.read_text("utf-8", "surrogateescape").removeprefix("gitdir: ").strip())
        paired = there.samefile(link) and back.samefile(worktree.git_dir)
        if not paired or worktree.path.is_symlink() or (worktree.git_dir / "locked").exists():
            return False
        shutil.rmtree(worktree.path)
        shutil.rmtree(worktree.git_dir)
        with contextlib.suppress(OSError):  # other worktrees are registered
            worktree.git_dir.parent.rmdir()
    except OSError:
        return False
    return True
