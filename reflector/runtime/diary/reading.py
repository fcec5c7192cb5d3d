"""The diary as a person leafs through it, and plain counts of what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reflector.core.diary import KINDS, Diary
from reflector.core.errors import NotFoundError
from reflector.runtime.diary.remotes import remotes
from reflector.runtime.diary.repository import Repository, enabled
from reflector.runtime.wiring import Context
from reflector.store import diary as queue
from reflector.store.diary import Counts


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts, and what stands in the way. `left` are hand edits that were not taken in, and why."""

    entries: dict[str, int]
    open: int
    traits: dict[str, int]
    terms: int
    notes: int
    tombstones: int
    damaged: tuple[str, ...]
    left: tuple[str, ...]
    remotes: tuple[str, ...]
    queue: Counts
    head: str = ""
    enabled: bool = field(default=True)


def read(context: Context) -> Diary:
    """Return the diary; what a person edited by hand is taken in first where one is kept.

    Raises NotFoundError when there is none, DiaryPausedError when it cannot be read.
    """
    return _there(context).read(quiet=0)


def stats(context: Context) -> Stats:
    """Count what there is."""
    repository = _there(context)
    left = repository.adopt() if enabled(context) else ()
    diary = repository.read(adopt=False)
    kinds = Counter(each.kind for each in diary.entries.values())
    about = Counter(each.about for each in diary.traits.values())
    failures = [each for each in diary.entries.values() if each.kind == "failure"]
    with context.state() as state:
        waiting = queue.counts(state.connection)
    return Stats(
        entries={kind: kinds[kind] for kind in KINDS},
        open=sum(not each.resolved for each in failures),
        traits={"user": about["user"], "self": about["self"]},
        terms=len(diary.lexicon),
        notes=len(diary.notes),
        tombstones=len(diary.tombstones),
        damaged=diary.damaged,
        left=left,
        remotes=remotes(repository.path),
        queue=waiting,
        head=repository.head(),
        enabled=enabled(context),
    )


def _there(context: Context) -> Repository:
    context.require()
    repository = Repository(context)
    if not repository.present():
        raise NotFoundError(
            f"There is no diary of the identity {context.agent.identity!r} yet.",
            hint="It begins with the first thing that is kept in it, while diary.enabled is true.",
        )
    return repository
