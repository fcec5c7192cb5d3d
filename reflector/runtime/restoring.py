"""A document brought back as it was at a commit, after a run, or on a day: by one new commit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from reflector.core.ambient import instant, stamp
from reflector.core.errors import NotFoundError, UsageError
from reflector.memory.tools import place
from reflector.memory.tree import Tree
from reflector.runtime.documents import relative
from reflector.runtime.wiring import Context
from reflector.runtime.writing import Written, write
from reflector.store import forgetting, reservations
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads

_RUN = re.compile(r"\d{8}T\d{0,6}(?:-[0-9a-f]{0,8})?\Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_MOMENT = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?\Z"
)
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought back, as of which commit, and by which."""

    path: str
    revision: str
    written: Written


def restore(context: Context, spoken: str) -> Restored:
    """Bring `PATH@REV` back; a document that REV does not have raises NotFoundError."""
    path, at, revision = spoken.rpartition("@")
    if not (at and path and revision):
        raise UsageError(
            f"{spoken!r} names no revision.",
            hint="Say PATH@REV; REV is a commit, a run id, or a date such as 2026-11-30.",
        )
    context.require()
    name = place(relative(context, path))
    with Reads(context.agent.repo) as reads:
        sha = _commit(context, reads, revision)
        content = reads.file(sha, name)
    if content is None:
        raise NotFoundError(
            f"There was no {name} at {revision} ({sha[:12]}).",
            hint=f"`reflector memory log {name}` lists the commits that changed it.",
        )

    def change(_now: Tree) -> Mapping[str, bytes | None]:
        return {name: content}

    reason = f"restore {name} as of {sha[:12]}"
    return Restored(name, sha, write(context, change, reason, writer="person"))


def _commit(context: Context, reads: Reads, revision: str) -> str:
    if _DAY.match(revision) or _MOMENT.match(revision):
        return _at(reads, revision)
    with context.state() as state:
        if _RUN.match(revision):
            run = reservations.find(state.connection, revision)
            if run.merge_commit is None:
                raise NotFoundError(f"Run {run.id} merged nothing.")
            revision = run.merge_commit
        found = reads.resolve(revision)
        sha, _ = forgetting.now_called(state.connection, found or revision)
        if sha != (found or revision):
            found = reads.resolve(sha)  # a commit from before a rewrite, which a rewrite replaced
    if found is None:
        raise NotFoundError(
            f"There is no commit, run or date {revision} in the memory.",
            hint="`reflector memory log PATH` and `reflector runs` list what there is.",
        )
    return found


def _at(reads: Reads, revision: str) -> str:
    """Return what main was at a time; a day counts to its end, as the person's clock has it."""
    until = _instant(revision)
    head = reads.resolve(MAIN) or ""
    for commit in _trunk(reads, head):
        if commit[1] <= until:
            return commit[0]
    raise NotFoundError(
        f"The memory did not exist yet at {revision}.",
        hint="`reflector memory log PATH` shows how old a document is.",
    )


def _trunk(reads: Reads, head: str) -> Iterator[tuple[str, str]]:
    for _ in range(_MOST):
        if not head:
            return
        commit = reads.commit(head)
        yield commit.sha, commit.at
        head = next(iter(commit.parents), "")


def _instant(revision: str) -> str:
    try:
        moment = instant(revision.replace(" ", "T"))
        if moment.tzinfo is None:
            moment = moment.astimezone()
        if _DAY.match(revision):
            moment += timedelta(days=1, milliseconds=-1)
        return stamp(moment)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{revision!r} is no date.", hint="Write it as 2026-11-30.") from error
