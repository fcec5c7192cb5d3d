"""One run's merge taken back by a new commit; history keeps both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from reflector.core.errors import NotFoundError, ParentDirtyError, ReflectorError, RefMovedError
from reflector.core.run import Run
from reflector.runtime import block_cache, news, notice_file, push
from reflector.runtime.adoption import adopt_held
from reflector.runtime.brought import Lines, brought_by_merge
from reflector.runtime.forgetting.intent import refuse_unfinished
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.trouble import way_out
from reflector.runtime.wiring import Context
from reflector.store import bullets, forgetting, reservations, unwanted
from reflector.store.state import State
from reflector.vcs import merge
from reflector.vcs.merge import Integrated, Integration, Refused, Undo
from reflector.vcs.port import MAIN, CommitInfo, trailers
from reflector.vcs.reads import Reads

_TRAILER = "Reflector-Undo"
_ALL = 1_000_000


class UndoConflictError(ReflectorError):
    """What a run wrote was changed since, so it cannot be taken back by itself."""

    code = "undo_conflict"


@dataclass(frozen=True, slots=True)
class Undone:
    """The commit that took a run back, the paths that it changed, how many lines are unwanted now.

    `rewritten_at` says when history was rewritten since that run, "" if it was not.
    """

    run: str
    commit: str
    paths: tuple[str, ...]
    unwanted: int = 0
    rewritten_at: str = ""


def undo(context: Context, run_id: str) -> Undone:
    """Take back what a run merged. Raises an error that says why when it cannot be done.

    What the merge had brought is remembered as unwanted before main moves: who dies in between
    has not forgotten what the person wanted.
    """
    with context.state() as state:
        run = reservations.find(state.connection, run_id)
        if run.merge_commit is None:
            raise NotFoundError(f"Run {run.id} merged nothing, so there is nothing to undo.")
        lines = brought_by_merge(context, run.merge_commit)
        rewritten_at = forgetting.rewritten_at(state.connection, run.merge_commit)
        with memory_write(context) as git:
            refuse_unfinished(context.agent)
            adopt_held(context, git)
            _refuse_twice(context, run)
            try:
                done = merge.integrate(
                    git,
                    _job(context, run, run.merge_commit),
                    save_merge=lambda _sha: _remember(context, state, run.id, lines),
                    sleep=context.ambient.clock.sleep,
                )
            except RefMovedError:
                _forget(state, run.id)
                raise
        if isinstance(done, Refused):
            _forget(state, run.id)
        else:
            _no_news(state, run.id, context.ambient.now())
    count = sum(map(len, lines.values()))
    undone = replace(_answer(run, done), unwanted=count, rewritten_at=rewritten_at)
    block_cache.refresh(context)
    notice_file.refresh(context)
    push.begin(context)
    return undone


def undone_by(context: Context, runs: Iterable[Run]) -> dict[str, str]:
    """Return the commit that undid each of these runs, by run, for those that were undone."""
    merged = {run.id for run in runs if run.merge_commit}
    if not merged:
        return {}
    with Reads(context.agent.repo) as reads:
        head = reads.resolve("refs/heads/main")
        history = reads.log(head, limit=_ALL) if head else ()
    return {
        run: commit.sha for commit in history for run in _named(commit, _TRAILER) if run in merged
    }


def remember_undone(context: Context) -> int:
    """Remember as unwanted what every undo on main took back; return how many there are.

    For a ledger that was lost: git alone tells. What was reverted with plain git is no undo.
    """
    with Reads(context.agent.repo) as reads:
        head = reads.resolve(MAIN)
        history = reads.log(head, limit=_ALL) if head else ()
    merges = {run: commit.sha for commit in history for run in _named(commit, "Reflector-Run")}
    undone = [(run, commit.at) for commit in reversed(history) for run in _named(commit, _TRAILER)]
    found = [
        (run, at, brought_by_merge(context, merges[run])) for run, at in undone if run in merges
    ]
    with context.state() as state, state.transaction() as connection:
        for run, at, lines in found:
            unwanted.record(connection, run, lines, "undone", at)
    return len(found)


def _named(commit: CommitInfo, trailer: str) -> list[str]:
    lines = trailers(commit.message)
    return [line.partition(": ")[2] for line in lines if line.startswith(f"{trailer}: ")]


def _remember(context: Context, state: State, run_id: str, lines: Lines) -> None:
    with state.transaction() as connection:
        unwanted.record(connection, run_id, lines, "undone", context.ambient.now())


def _no_news(state: State, run_id: str, now: str) -> None:
    with state.transaction() as connection:
        news.taken_back(connection, run_id)
        bullets.take_back(connection, run_id, now)


def _forget(state: State, run_id: str) -> None:
    with state.transaction() as connection:
        unwanted.forget_run(connection, run_id)


def _job(context: Context, run: Run, merge_commit: str) -> Integration:
    with Reads(context.agent.repo) as reads:
        subject = reads.commit(merge_commit).message.partition("\n")[0]
    summary = subject.partition("): ")[2] or subject
    message = (
        f"revert({run.request.pipeline}): {summary}\n\n"
        f"{_TRAILER}: {run.id}\n"
        "Memory-Writer: person\n"
    )
    now = context.ambient.clock.now()
    return Integration(Undo(merge_commit), message, now, run.id, context.ambient.token())


def _refuse_twice(context: Context, run: Run) -> None:
    with Reads(context.agent.repo) as reads:
        head = reads.resolve(MAIN)
        if head is None:
            return
        for commit in reads.log(head, since=run.merge_commit, limit=100_000):
            if f"{_TRAILER}: {run.id}" in commit.message.splitlines():
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
                hint=way_out(
                    done.detail,
                    done.paths,
                    "Commit or put away your changes in the memory, then try again.",
                ),
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
