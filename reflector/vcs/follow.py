"""Working files and a copy of the index brought from one commit of main to the next (ENGINE 12.3)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.index_lock import copy_path, files_path
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.swap import Swap, read, read_all


class InTheWay(Exception):  # noqa: N818 - not an error: a person's work comes first
    """Something of a person's is where the files should go; nothing was changed."""

    def __init__(self, why: str, paths: tuple[str, ...]) -> None:
        """Keep the sentence and the paths."""
        super().__init__(why)
        self.why, self.paths = why, paths


def ask(git: Porcelain, old: str, new: str, copy: Path) -> None:
    """Let git say whether files and index could follow; raise `GitError` if not."""
    try:
        git.may_follow(old, new, copy)
    except GitError:
        # Saved again without a change, or copied: git compares times unless it is told to look.
        git.refresh(copy)
        git.may_follow(old, new, copy)


def follow(git: Porcelain, run_id: str, old: str, commit: str, changed: Sequence[str]) -> None:
    """Bring the changed files to the commit (d), and the copy of the index with them.

    Raises InTheWay, with everything turned back, when a person's work or the disk is in the way.
    """
    copy, folder = copy_path(git.git_dir, run_id), files_path(git.git_dir, run_id)
    why = "Files were written to while the merge landed."
    swap = None
    try:
        swap = _ready(git, old, commit, copy, changed)
        trouble = swap.do()
        if not trouble:
            git.refresh(copy)
            trouble = swap.late()
            if trouble:
                swap.back()
    except (GitError, OSError) as error:
        why = str(error.facts.get("detail", error)) if isinstance(error, GitError) else str(error)
        trouble = tuple(changed)
        if swap is not None:
            swap.back()
    shutil.rmtree(folder, ignore_errors=True)
    if trouble:
        raise InTheWay(why, trouble)


def index_alone(git: Porcelain, run_id: str, old: str, commit: str) -> None:
    """Bring the copy of the index to a commit whose files are in their places already."""
    copy = copy_path(git.git_dir, run_id)
    git.check_out(old, commit, copy, files_path(git.git_dir, run_id), ())
    git.refresh(copy)


def clear_written(git: Porcelain, old: str, commit: str, changed: Sequence[str]) -> tuple[str, ...]:
    """Remove files that a dead one had brought to `commit`: missing ones are in nobody's way.

    Returns those of them that `old` has.
    """
    cleared = []
    with Reads(git.repo) as reads:
        for path in changed:
            new, before, found = (
                reads.file(commit, path),
                reads.file(old, path),
                read(git.repo / path),
            )
            if new and found and found != before and new.startswith(found):
                (git.repo / path).unlink()
                cleared += [path] if before is not None else []
    return tuple(cleared)


def _ready(git: Porcelain, old: str, commit: str, copy: Path, changed: Sequence[str]) -> Swap:
    """Write the new files beside; git vouches that what is there now is nobody's change."""
    folder = files_path(git.git_dir, copy.stem.removeprefix("reflector-"))
    shutil.rmtree(folder, ignore_errors=True)
    before = read_all(git.repo, changed)
    git.may_follow(old, commit, copy)
    with Reads(git.repo) as reads:
        wanted = [path for path in changed if reads.file(commit, path) is not None]
    (folder / "new").mkdir(parents=True)
    git.check_out(old, commit, copy, folder / "new", wanted)
    odd = [path for path in wanted if read(folder / "new" / path) is None]
    if odd:  # validation lets no run bring a link; whoever does must not see it vanish
        raise GitError("Only regular files can be merged.", detail=f"not one: {', '.join(odd)}")
    return Swap(git.repo, folder, before)
