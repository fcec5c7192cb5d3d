"""One run's merge taken back by a new commit; history keeps both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from reflector.core.errors import NotFoundError, ParentDirtyError, ReflectorError
from reflector.core.run import Run
from reflector.runtime import block_cache
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.wiring import Context
from reflector.store import reservations
from reflector.vcs import merge
from reflector.vcs.merge import Integrated, Integration, Refused, Undo
from reflector.vcs.reads import Reads


class UndoConflictError(ReflectorError):
    """What a run wrote was changed since, so it cannot be taken back by itself."""

    code = "undo_conflict"


@dataclass(frozen=True, slots=True)
class Undone:
    """The commit that took a run back, and the paths that it changed."""

    run: str
    commit: str
    paths: tuple[str, ...]


def undo(context: Context, run_id: str) -> Undone:
    """Take back what a run merged. Raises an error that says why when it cannot be done."""
    with context.state() as state:
        run = reservations.find(state.connection, run_id)
    if run.merge_commit is None:
        raise NotFoundError(f"Run {run.id} merged nothing, so there is nothing to undo.")
    with memory_write(context) as git:
        _refuse_twice(context, run)
        done = merge.integrate(
            git,
            _job(context, run, run.merge_commit),
            save_merge=lambda _sha: None,  # after a death in between git itself tells what landed
            sleep=context.ambient.clock.sleep,
        )
    undone = _answer(run, done)
    block_cache.refresh(context)
    return undone


def _job(context: Context, run: Run, merge_commit: str) -> Integration:
    with Reads(context.agent.repo) as reads:
        subject = reads.commit(merge_commit).message.partition("\n")[0]
    summary = subject.partition("): ")[2] or subject
    message = (
        f"revert({run.request.pipeline}): {summary}\n\n"
        f"Reflector-Undo: {run.id}\n"
        "Memory-Writer: person\n"
    )
    now = context.ambient.clock.now()
    return Integration(Undo(merge_commit), message, now, run.id, context.ambient.token())


def _refuse_twice(context: Context, run: Run) -> None:
    with Reads(context.agent.repo) as reads:
        head = reads.resolve("refs/heads/main")
        if head is None:
            return
        for commit in reads.log(head, since=run.merge_commit, limit=100_000):
            if f"Reflector-Undo: {run.id}" in commit.message.splitlines():
                raise NotFoundError(
                    f"Run {run.id} was undone already, by {commit.sha[:12]}.",
                    hint="`git log` in the memory repository shows both commits.",
                )


def _answer(run: Run, done: Integrated | Refused) -> Undone:
    if isinstance(done, Integrated):
        return Undone(run.id, done.sha, done.changed)
    paths = ", ".join(done.paths)
    match done.kind:
        case "parent_dirty":
            raise ParentDirtyError(
                f"Run {run.id} cannot be undone now: {done.detail}",
                hint="Commit or put away your changes in the memory, then try again.",
                paths=paths,
            )
        case "merge_conflict":
            raise UndoConflictError(
                f"Run {run.id} cannot be undone by itself: {done.detail} ({paths})",
                hint="Later changes touch the same lines; edit the files by hand.",
                paths=paths,
            )
        case _:
            assert_never(done.kind)
