"""A branch brought home: planned in memory, landed by compare-and-set, files following (ENGINE 12).

The steps a to e are those of ENGINE 12.3. Main moves in `moved`; before it nothing of a person's
has been touched, and from it on `finish_follow` can do what is left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, assert_never

from reflector.core.errors import GitError, RefMovedError
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import Identity, MergePlan
from reflector.vcs.reads import Reads
from reflector.vcs.swap import Swap, read, read_all

LOCK_WAIT_SECONDS = 5.0
_LOCK_STEP_SECONDS = 0.1

Step = Literal["planned", "locked", "checked", "saved", "moved", "followed"]


@dataclass(frozen=True, slots=True)
class Bring:
    """Merge a validated tip. `base` is where its run began and must still be in main."""

    base: str
    tip: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Take what a merge brought out of main again."""

    merge: str


@dataclass(frozen=True, slots=True)
class Integration:
    """One change to land on main, and whose it is. `when` and `who` go into the commit."""

    change: Bring | Undo
    message: str
    when: datetime
    run_id: str
    token: str
    who: Identity = field(default_factory=Identity)
    branch: str = "main"

    @property
    def ref(self) -> str:
        """Return the full name of the ref that moves."""
        return f"refs/heads/{self.branch}"


@dataclass(frozen=True, slots=True)
class Integrated:
    """The commit that landed, and the paths it changed in main."""

    sha: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Main is where it was; index and files are untouched. `paths` say where the trouble is."""

    kind: Literal["parent_dirty", "merge_conflict"]
    detail: str
    paths: tuple[str, ...] = ()


class _No(Exception):  # noqa: N818 - not an error: how a step ends the walk with an answer
    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.detail)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class _Planned:
    ours: str
    parents: tuple[str, ...]
    tree: str
    changed: tuple[str, ...]


Judge = Callable[[str, str], Sequence[str]]
"""Validates a planned tree (main's sha, the tree's id) when main has moved: sentences if not."""


def integrate(
    git: Porcelain,
    job: Integration,
    *,
    save_merge: Callable[[str], None],
    sleep: Callable[[float], None],
    judge: Judge | None = None,
) -> Integrated | Refused:
    """Land a change on main, or refuse with nothing touched. The caller holds the memory-write lock.

    `save_merge` gets the sha before main moves. Raises `RefMovedError` if main moves under us
    (nothing was changed; call again), `GitError` if git fails.
    """
    walk = steps(git, job, save_merge=save_merge, sleep=sleep, judge=judge)
    while True:
        try:
            next(walk)
        except StopIteration as end:
            result: Integrated | Refused = end.value
            return result


def steps(
    git: Porcelain,
    job: Integration,
    *,
    save_merge: Callable[[str], None],
    sleep: Callable[[float], None],
    judge: Judge | None = None,
) -> Generator[Step, None, Integrated | Refused]:
    """Do what `integrate` does, stopping after each step."""
    try:
        plan = _plan(git, job, _main(git, job), judge)
        yield "planned"
        _take_lock(git, job, sleep)
        try:
            yield "locked"
            ours = _main(git, job)
            if ours != plan.ours:  # whoever held the lock before us has committed
                plan = _plan(git, job, ours, judge)
            commit, copy = _check(git, job, plan)
            yield "checked"
            save_merge(commit)
            yield "saved"
            _move(git, job, plan.ours, commit)
        except BaseException:
            release(git.git_dir, job.run_id, job.token)
            raise
        # From here to the end only an answer lets go of the lock. Without it a person's commit
        # would take the files that lag behind for theirs, and revert what landed.
        yield "moved"
        _follow(git, job, plan.ours, commit, plan.changed)
        yield "followed"
        _settle_index(git, copy)
        answer: Integrated | Refused = Integrated(commit, plan.changed)
    except _No as no:
        answer = no.refused
    release(git.git_dir, job.run_id, job.token)
    return answer


def our_index_lock(git_dir: Path, run_id: str, token: str) -> bool:
    """Tell whether the repository's `index.lock` was made by this run."""
    with contextlib.suppress(FileNotFoundError):
        return (git_dir / "index.lock").read_bytes() == _signed(run_id, token)
    return False


def release(git_dir: Path, run_id: str, token: str) -> None:
    """Remove what a dead integration left before main moved: our lock, our copy of the index."""
    shutil.rmtree(_files_path(git_dir, run_id), ignore_errors=True)
    _copy_path(git_dir, run_id).unlink(missing_ok=True)
    _copy_path(git_dir, run_id).with_suffix(".index.lock").unlink(missing_ok=True)
    if our_index_lock(git_dir, run_id, token):
        (git_dir / "index.lock").unlink(missing_ok=True)


def finish_follow(git: Porcelain, job: Integration, old: str, commit: str) -> Integrated | Refused:
    """Repeat d and e after a death behind `moved`: our lock is still there, files lag behind.

    Files that the dead one had written are recognised by content, written again, and never
    mistaken for a person's. If the rest is in a person's way, main moves back from `commit` to
    `old` and the answer is a refusal.
    """
    with Reads(git.repo) as reads:
        changed = reads.changed(old, commit)
    if not _copy_path(git.git_dir, job.run_id).exists():
        # It is the index already (e). To git a file that we took away now would be deleted.
        release(git.git_dir, job.run_id, job.token)
        return Integrated(commit, changed)
    try:
        copy = _copy_index(git, job)
        cleared = _clear_written(git, old, commit, changed)
        try:
            _follow(git, job, old, commit, changed)
        except _No:
            git.restore_missing(git.git_dir / "index", cleared)
            raise
        _settle_index(git, copy)
        answer: Integrated | Refused = Integrated(commit, changed)
    except _No as no:
        answer = no.refused
    release(git.git_dir, job.run_id, job.token)
    return answer


def landed(git: Porcelain, job: Integration) -> str | None:
    """Return the commit by which this change is already in main, judged by git alone (ENGINE 10)."""
    with Reads(git.repo) as reads:
        main = reads.resolve(job.ref)
        if main is None:
            return None
        match job.change:
            case Bring(base, tip):
                if not reads.is_ancestor(tip, main):
                    return None
                found = reads.find_trailer(main, "Reflector-Run", job.run_id, since=base)
                return found.sha if found and found.parents[1] == tip else main
            case Undo():
                wanted = f"Reflector-Run: {job.run_id}"
                log = reads.log(main, since=job.change.merge, limit=1000)
                return next((c.sha for c in log if wanted in c.message.splitlines()), None)
            case _:
                assert_never(job.change)


def _main(git: Porcelain, job: Integration) -> str:
    """Return where main is, or refuse if the repository is not simply on it."""
    with Reads(git.repo) as reads:
        head = reads.head()
    if head.operation is not None:
        why = f"The memory repository is in the middle of a {head.operation}."
        raise _No(Refused("parent_dirty", why))
    if head.branch != job.branch:
        raise _No(Refused("parent_dirty", f"The memory repository is not on {job.branch}."))
    if head.sha is None:
        raise _No(Refused("merge_conflict", f"{job.branch} has no commit any more."))
    return head.sha


def _plan(git: Porcelain, job: Integration, ours: str, judge: Judge | None) -> _Planned:
    with Reads(git.repo) as reads:
        match job.change:
            case Bring(base, tip):
                if not reads.is_ancestor(base, ours):
                    why = f"{job.branch} was moved to before the run's base {base[:12]}."
                    raise _No(Refused("merge_conflict", why))
                plan = reads.plan_merge(ours, tip)
                return _accepted(plan, ours, (ours, tip), judge if ours != base else None)
            case Undo(merge):
                if not reads.is_ancestor(merge, ours):
                    raise _No(Refused("merge_conflict", f"{merge[:12]} is not in {job.branch}."))
                return _accepted(reads.plan_revert(ours, merge), ours, (ours,), judge)
            case _:
                assert_never(job.change)


def _accepted(
    plan: MergePlan, ours: str, parents: tuple[str, ...], judge: Judge | None
) -> _Planned:
    if plan.tree is None:
        why = "The same places were changed on both sides."
        raise _No(Refused("merge_conflict", why, plan.conflicts))
    findings = judge(ours, plan.tree) if judge else ()
    if findings:
        raise _No(Refused("merge_conflict", "; ".join(findings)))
    return _Planned(ours, parents, plan.tree, plan.changed)


def _check(git: Porcelain, job: Integration, plan: _Planned) -> tuple[str, Path]:
    """Refuse if a person's work is in the way; return the commit object and the index copy (b)."""
    with Reads(git.repo) as reads:
        occupied = reads.occupied(plan.changed)
        if occupied:
            why = "Uncommitted changes are in the way."
            raise _No(Refused("parent_dirty", why, occupied))
        commit = reads.create_commit(plan.tree, plan.parents, job.message, job.who, job.when)
    copy = _copy_index(git, job)
    try:
        _ask(git, plan.ours, commit, copy)
    except GitError as error:
        why = str(error.facts.get("detail", error.message))
        raise _No(Refused("parent_dirty", why, plan.changed)) from error
    return commit, copy


def _ask(git: Porcelain, old: str, new: str, copy: Path) -> None:
    try:
        git.may_follow(old, new, copy)
    except GitError:
        # Saved again without a change, or copied: git compares times unless it is told to look.
        git.refresh(copy)
        git.may_follow(old, new, copy)


def _follow(
    git: Porcelain, job: Integration, old: str, commit: str, changed: Sequence[str]
) -> None:
    """Bring the changed files to the commit (d); if anything is in the way, move main back."""
    copy, folder = _copy_path(git.git_dir, job.run_id), _files_path(git.git_dir, job.run_id)
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
        git.update_ref(job.ref, old, commit, f"reflector: {job.run_id} taken back")
        raise _No(Refused("parent_dirty", why, trouble))


def _ready(git: Porcelain, old: str, commit: str, copy: Path, changed: Sequence[str]) -> Swap:
    """Write the new files beside; git vouches that what is there now is nobody's change."""
    folder = _files_path(git.git_dir, copy.stem.removeprefix("reflector-"))
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


def _clear_written(
    git: Porcelain, old: str, commit: str, changed: Sequence[str]
) -> tuple[str, ...]:
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


def _move(git: Porcelain, job: Integration, old: str, commit: str) -> None:
    """Move main (c)."""
    try:
        git.update_ref(job.ref, commit, old, f"reflector: {job.run_id}")
    except RefMovedError:
        raise
    except GitError:
        # A git that was ended at its deadline may have done it all the same.
        with Reads(git.repo) as reads:
            if reads.resolve(job.ref) != commit:
                raise


def _take_lock(git: Porcelain, job: Integration, sleep: Callable[[float], None]) -> None:
    """Create `index.lock`, git's own protocol, so that a person's commit refuses meanwhile (a)."""
    lock = git.git_dir / "index.lock"
    waited = 0.0
    while not _created(lock, _copy_path(git.git_dir, job.run_id), job):
        if waited >= LOCK_WAIT_SECONDS:
            raise _No(Refused("parent_dirty", f"Another git command holds {lock}."))
        sleep(_LOCK_STEP_SECONDS)
        waited += _LOCK_STEP_SECONDS


def _created(lock: Path, beside: Path, job: Integration) -> bool:
    """Create the lock with our name in it at once: half of a name would be nobody's, for ever."""
    try:
        beside.write_bytes(_signed(job.run_id, job.token))
        os.link(beside, lock)
    except FileExistsError:
        return False
    finally:
        beside.unlink(missing_ok=True)
    return True


def _signed(run_id: str, token: str) -> bytes:
    return f"reflector {run_id} {token}\n".encode()


def _copy_path(git_dir: Path, run_id: str) -> Path:
    return git_dir / f"reflector-{run_id}.index"


def _files_path(git_dir: Path, run_id: str) -> Path:
    return git_dir / f"reflector-{run_id}.files"


def _copy_index(git: Porcelain, job: Integration) -> Path:
    copy = _copy_path(git.git_dir, job.run_id)
    copy.with_suffix(".index.lock").unlink(missing_ok=True)
    try:
        # With its times: a file changed within the tick of the index's own time is compared by
        # content, and a copy from a moment later would take it for unchanged.
        shutil.copy2(git.git_dir / "index", copy)
    except FileNotFoundError:
        raise _No(Refused("parent_dirty", "The memory repository has no index.")) from None
    return copy


def _settle_index(git: Porcelain, copy: Path) -> None:
    """Make the copy the index (e), before our lock goes.

    Straight over the index and not by way of `index.lock`: a death between the two renames would
    leave a lock that nobody can tell from a living git's.
    """
    with copy.open("rb") as file:
        os.fsync(file.fileno())
    copy.replace(git.git_dir / "index")
