"""What a settled run leaves behind: set aside what nobody asked for, then remove its worktree."""

from __future__ import annotations

import shutil
from pathlib import Path

from structlog.typing import FilteringBoundLogger

from reflector.core.cleaning import clean
from reflector.core.errors import ReflectorError
from reflector.runtime import log as events
from reflector.runtime.cleansing import cleanse, cleanse_file
from reflector.store.disk import AgentHome
from reflector.vcs import worktree
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.worktree import Inspected, Worktree

_LARGEST = 1_000_000


def clean_up(
    git: Porcelain, agent: AgentHome, run_id: str, place: Worktree, log: FilteringBoundLogger
) -> str:
    """Remove a settled run's worktree and branch; files nobody committed go to its run folder.

    Returns what went wrong, "" if nothing. Trouble here never changes how the run ended: it is
    logged, and the next command tries again.
    """
    try:
        found = worktree.inspect(git.repo, place)
        if isinstance(found, Inspected):
            status = found.status
            loose = (*status.untracked, *status.staged, *status.unstaged, *found.ignored)
            set_aside(place.path, loose, agent.run(run_id) / "scratch")
        elif place.path.is_dir():
            # Its link to the repository is broken: nobody can tell what in it is new.
            set_folder_aside(place.path, agent.run(run_id))
        worktree.close(git, place, found.tip)
    except (ReflectorError, OSError) as error:
        log.warning(events.CLEANUP_FAILED, run=run_id, error=str(error))
        return str(error)
    return ""


def set_folder_aside(source: Path, run_folder: Path) -> Path:
    """Move a whole folder into a run's folder, which is kept for its time; return where it is."""
    target = run_folder / "scratch" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        shutil.rmtree(target)  # what a move left that was cut off in the middle
    shutil.move(source, target)
    cleanse(target)
    return target


def set_aside(source: Path, names: tuple[str, ...], target: Path) -> None:
    """Move loose regular files of a worktree out of it; larger ones than 1 MB are given up."""
    for name in names:
        file = source / name
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
            continue
        place = target / clean(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(cleanse_file(file), place)
