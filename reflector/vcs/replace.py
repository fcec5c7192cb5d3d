"""Refs moved to a history that was written anew, and the checkout of main with them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from reflector.core.errors import GitError, ParentDirtyError
from reflector.vcs import index_lock
from reflector.vcs.follow import InTheWay, ask, clear_written, follow
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

Step = Literal["locked", "checked", "moved", "followed"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """Which refs move from where to where, and whose lock it is. `refs` maps to (old, new)."""

    refs: Mapping[str, tuple[str, str]]
    run_id: str
    token: str


def replace(
    git: Porcelain, job: Replacement, sleep: Callable[[float], None]
) -> Generator[Step, None, None]:
    """Move every ref by compare-and-set, main last, then index and files, step by step.

    Raises ParentDirtyError, with nothing moved, when uncommitted work is in the way, and
    RefMovedError when a ref is not where it was.
    """
    old, new = job.refs.get(MAIN, ("", ""))
    with _locked(git, job, sleep) as lock:
        yield "locked"
        changed = _changed(git, old, new)
        copy = index_lock.copy_index(git.git_dir, job.run_id)
        if old != new:
            _refuse(git, old, new, changed, copy)
        yield "checked"
        for ref, (before, after) in sorted(job.refs.items(), key=lambda each: each[0] == MAIN):
            if before != after:
                git.update_ref(ref, after, before, "reflector: rewritten")
        lock.kept = True
        yield "moved"
        if old != new:
            _follow_or_return(git, job, old, new, changed, lock)
            yield "followed"
            index_lock.settle_index(git.git_dir, copy)
        lock.kept = False


def catch_up(git: Porcelain, job: Replacement, sleep: Callable[[float], None]) -> None:
    """Let index and files follow where a dead one had moved main already; nothing if they did."""
    old, new = job.refs[MAIN]
    index_lock.release(git.git_dir, job.run_id, job.token)
    with Reads(git.repo) as reads:
        if reads.resolve(MAIN) != new or reads.resolve(old) is None:
            return  # it never moved, or all is done and the old history is gone
        changed = reads.changed(old, new)
        if reads.surely_free(changed, git.git_dir / "index", new):
            return
    with _locked(git, job, sleep):
        copy = index_lock.copy_index(git.git_dir, job.run_id)
        clear_written(git, old, new, changed)
        _follow(git, job, old, new, changed)
        index_lock.settle_index(git.git_dir, copy)


class _Held:
    """Our `index.lock`; with `kept` it stays when something goes wrong, for whoever comes next."""

    def __init__(self, git: Porcelain, job: Replacement) -> None:
        self.kept = False
        self._git, self._job = git, job

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.kept:
            index_lock.release(self._git.git_dir, self._job.run_id, self._job.token)


def _locked(git: Porcelain, job: Replacement, sleep: Callable[[float], None]) -> _Held:
    if not index_lock.take(git.git_dir, job.run_id, job.token, sleep):
        raise ParentDirtyError(
            f"Another git command holds {git.git_dir / 'index.lock'}.",
            hint="Let it end, then run the same command again.",
        )
    return _Held(git, job)


def _changed(git: Porcelain, old: str, new: str) -> tuple[str, ...]:
    if old == new:
        return ()
    with Reads(git.repo) as reads:
        return reads.changed(old, new)


def _refuse(git: Porcelain, old: str, new: str, changed: tuple[str, ...], copy: Path) -> None:
    with Reads(git.repo) as reads:
        occupied = reads.occupied(changed)
    detail = ""
    if not occupied:
        try:
            ask(git, old, new, copy)
        except GitError as error:
            detail = str(error.facts.get("detail", error.message))
    if occupied or detail:
        raise in_the_way(occupied or changed, detail)


def _follow_or_return(
    git: Porcelain,
    job: Replacement,
    old: str,
    new: str,
    changed: tuple[str, ...],
    lock: _Held,
) -> None:
    try:
        _follow(git, job, old, new, changed)
    except ParentDirtyError:
        git.update_ref(MAIN, old, new, "reflector: taken back")
        lock.kept = False
        raise


def _follow(git: Porcelain, job: Replacement, old: str, new: str, changed: tuple[str, ...]) -> None:
    try:
        follow(git, job.run_id, old, new, changed)
    except InTheWay as trouble:
        raise in_the_way(trouble.paths, trouble.why) from trouble


def in_the_way(paths: tuple[str, ...], detail: str = "") -> ParentDirtyError:
    """Return the error that names a person's uncommitted work."""
    return ParentDirtyError(
        f"Uncommitted work in the memory is in the way ({', '.join(paths[:5])}).",
        hint="Commit it or put it away, then run the same command again.",
        paths=", ".join(paths),
        detail=detail,
    )
