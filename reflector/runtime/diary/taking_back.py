"""Turns that a person took out of the record after they were written: what they gave goes again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from reflector.core.diary import Diary
from reflector.pipelines.diary import merging
from reflector.runtime.diary.repository import Repository
from reflector.runtime.wiring import Context
from reflector.store import diary
from reflector.store.diary import Job
from reflector.store.state import State


def take_back(context: Context, state: State) -> None:
    """Remove the entries of every such turn by a commit each. History keeps them until `forget`.

    What a turn only added to an older entry cannot be told apart from it and stays.
    """
    for job in diary.taken_back(state.connection):
        repository = Repository(context)
        if repository.exists:
            repository.change("leave a turn out", "skip", partial(_without, job))
        with state.transaction() as connection:
            diary.is_gone(connection, job)


def _without(job: Job, now: Diary) -> Diary:
    kept = {
        name: one
        for name, one in now.entries.items()
        if one.kind == "note" or (one.conversation, one.turn) != (job.conversation, job.turn)
    }
    return merging.buried(now, replace(now, entries=kept))
