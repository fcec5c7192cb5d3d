"""Whether a repository is simply on main, told from its files alone: no git is asked."""

from __future__ import annotations

from pathlib import Path

from reflector.core.errors import GitError
from reflector.vcs.port import IN_PROGRESS, Operation

_BRANCH = "ref: refs/heads/"


def trouble(branch: str | None, operation: Operation | None) -> str:
    """Say why nothing may change main now, "" if it may. `branch` is None when HEAD is detached."""
    if operation is not None:
        return f"The memory repository is in the middle of a {operation}."
    if branch != "main":
        return f"The memory repository is on {branch or 'no branch'}, not on main."
    return ""


def operation(git_dir: Path) -> Operation | None:
    """Return what a person is in the middle of."""
    found = (kind for name, kind in IN_PROGRESS.items() if (git_dir / name).exists())
    return next(found, None)


def parent_trouble(git_dir: Path) -> str:
    """Say why no run may begin now, "" if it may. Raises GitError without a HEAD to be read."""
    try:
        head = (git_dir / "HEAD").read_text("utf-8", "surrogateescape").rstrip("\n")
    except OSError as error:
        raise GitError(f"{git_dir}/HEAD cannot be read.", detail=str(error)) from error
    branch = head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else None
    return trouble(branch, operation(git_dir))
