"""The diary put right by its rules: shown first, then applied by one commit with a way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.diary import Diary
from reflector.core.errors import NotFoundError
from reflector.pipelines.diary.tidy import Change, tidy
from reflector.runtime.diary.repository import Repository, require_enabled
from reflector.runtime.wiring import Context
from reflector.vcs.reads import Reads

KEPT = "refs/reflector/tidy/"
"""Where the diary stays as it was before, whatever becomes of `main`."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """What the rules change; `commit` and `kept` are "" while nothing was applied."""

    changes: Sequence[Change]
    commit: str = ""
    kept: str = ""


def look(context: Context) -> Tidied:
    """Return what would be put right; nothing is changed."""
    return Tidied(tidy(_present(context).read())[1])


def apply(context: Context) -> Tidied:
    """Put the diary right by one commit; a ref keeps it as it was."""
    repository = _present(context)
    seen = repository.read()
    after, changes = tidy(seen)
    if not changes:
        return Tidied(changes)
    made = [changes]

    def onto(before: Diary) -> Diary:
        if before == seen:  # the rules take a while, and others wait for the lock
            return after
        anew, changes = tidy(before)
        made.append(changes)
        return anew

    kept = _keep(repository)
    commit = repository.change("put the diary right", "tidy", onto)
    return Tidied(made[-1], commit or "", kept)


def _present(context: Context) -> Repository:
    require_enabled(context)
    repository = Repository(context)
    if not repository.present():
        raise NotFoundError(
            f"There is no diary of the identity {context.agent.identity!r} to put right.",
            hint="`reflector diary note` begins one.",
        )
    return repository


def _keep(repository: Repository) -> str:
    """Name the present commit before anything changes, so that no death leaves no way back."""
    head = repository.head()
    ref = f"{KEPT}{head[:12]}"
    with repository.writing() as git:
        with Reads(repository.path) as reads:
            there = reads.resolve(ref)
        if there is None:
            git.update_ref(ref, head, None)
    return ref
