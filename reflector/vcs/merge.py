"""A change brought home: planned in memory, landed by compare-and-set, files following (ENGINE 12).

The steps a to e are those of ENGINE 12.3. Main moves in `moved`; before it nothing of a person's
has been touched, and from it on `finish_follow` can do what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, assert_never

from reflector.core.errors import GitError, RefMovedError
from reflector.vcs.follow import InTheWay, ask, clear_written, follow, index_alone
from reflector.vcs.index_lock import copy_index, copy_path, release, settle_index, take
from reflector.vcs.objects import Objects
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.port import ADOPTED, WRITTEN, Identity, MergePlan, trailers
from reflector.vcs.reads import Reads
from reflector.vcs.writes import Writes

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


Files = Mapping[str, tuple[int, bytes] | None]
"""Mode and bytes by path; None removes the file."""


@dataclass(frozen=True, slots=True)
class Write:
    """Put these files on top of `base`; if main is elsewhere by now, they are worked out anew.

    `also` are further parents: commits whose content is in the files already.
    """

    base: str
    files: Files
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adopt:
    """Commit what a person's files hold already. They are in their places and stay as they are."""

    base: str
    files: Files


Change = Bring | Undo | Write | Adopt


@dataclass(frozen=True, slots=True)
class Integration:
    """One change to land on main, and whose it is. `when` and `who` go into the commit."""

    change: Change
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
        _follow(git, job, plan, commit)
        yield "followed"
        settle_index(git.git_dir, copy)
        answer: Integrated | Refused = Integrated(commit, plan.changed)
    except _No as no:
        answer = no.refused
    release(git.git_dir, job.run_id, job.token)
    return answer


def finish_follow(git: Porcelain, job: Integration, old: str, commit: str) -> Integrated | Refused:
    """Repeat d and e after a death behind `moved`: our lock is still there, files lag behind.

    Files that the dead one had written are recognised by content, written again, and never
    mistaken for a person's. If the rest is in a person's way, main moves back from `commit` to
    `old` and the answer is a refusal.
    """
    with Reads(git.repo) as reads:
        changed = reads.changed(old, commit)
    if not copy_path(git.git_dir, job.run_id).exists():
        # It is the index already (e). To git a file that we took away now would be deleted.
        release(git.git_dir, job.run_id, job.token)
        return Integrated(commit, changed)
    plan = _Planned(old, (old,), commit, changed)
    try:
        copy = _copy_index(git, job)
        _follow_again(git, job, plan, commit)
        settle_index(git.git_dir, copy)
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
            case Write(base) | Adopt(base):
                names = {f"{name}: {job.run_id}" for name in (WRITTEN, ADOPTED)}
                log = reads.log(main, since=base, limit=1000)
                return next((c.sha for c in log if names & set(trailers(c.message))), None)
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
            case Write(base, files) | Adopt(base, files):
                if ours != base:  # what a person committed meanwhile must not be written over
                    raise RefMovedError(f"{job.ref} is not where it was.", ref=job.ref)
                with Objects(git.repo) as objects:
                    tree = objects.tree_with(reads.commit(ours).tree, files)
                also = job.change.also if isinstance(job.change, Write) else ()
                return _Planned(ours, (ours, *also), tree, reads.changed(ours, tree))
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
    with Writes(git.repo) as writes:
        _refuse_work(writes, job.change, plan.changed)
        commit = writes.create_commit(plan.tree, plan.parents, job.message, job.who, job.when)
    copy = _copy_index(git, job)
    if isinstance(job.change, Adopt):
        return commit, copy
    try:
        ask(git, plan.ours, commit, copy)
    except GitError as error:
        why = str(error.facts.get("detail", error.message))
        raise _No(Refused("parent_dirty", why, plan.changed)) from error
    return commit, copy


def _refuse_work(reads: Reads, change: Change, paths: Sequence[str]) -> None:
    """Refuse when uncommitted work of a person is in the way of the change."""
    if isinstance(change, Adopt):
        if staged := reads.status().staged:
            raise _No(Refused("parent_dirty", "Something is staged for a commit.", staged))
    elif occupied := reads.occupied(paths):
        raise _No(Refused("parent_dirty", "Uncommitted changes are in the way.", occupied))


def _follow(git: Porcelain, job: Integration, plan: _Planned, commit: str) -> None:
    """Let files and index follow (d); if anything is in the way, move main back."""
    try:
        if isinstance(job.change, Adopt):
            index_alone(git, job.run_id, plan.ours, commit)
        else:
            follow(git, job.run_id, plan.ours, commit, plan.changed)
    except InTheWay as trouble:
        git.update_ref(job.ref, plan.ours, commit, f"reflector: {job.run_id} taken back")
        raise _No(Refused("parent_dirty", trouble.why, trouble.paths)) from trouble


def _follow_again(git: Porcelain, job: Integration, plan: _Planned, commit: str) -> None:
    """Do what a dead one may have done in part; its files are not mistaken for a person's."""
    adopted = isinstance(job.change, Adopt)
    cleared = () if adopted else clear_written(git, plan.ours, commit, plan.changed)
    try:
        _follow(git, job, plan, commit)
    except _No:
        git.restore_missing(git.git_dir / "index", cleared)
        raise


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
    if not take(git.git_dir, job.run_id, job.token, sleep):
        lock = git.git_dir / "index.lock"
        raise _No(Refused("parent_dirty", f"Another git command holds {lock}."))


def _copy_index(git: Porcelain, job: Integration) -> Path:
    try:
        return copy_index(git.git_dir, job.run_id)
    except FileNotFoundError:
        raise _No(Refused("parent_dirty", "The memory repository has no index.")) from None
