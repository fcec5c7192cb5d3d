"""What a run's child is told, for tests that are the child themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reflector.runtime.payload import Payload
from reflector.vcs.worktree import Worktree
from tests.support.repos import RUN, Repo


def payload(repo: Repo, place: Worktree, **more: Any) -> Payload:
    """Return what the child of a reflection in this worktree is told; `more` are other fields."""
    told = Payload(
        run_id=RUN,
        pipeline="reflection",
        engine="rules",
        agent_id="a",
        identity="a",
        worktree=str(place.path),
        repository=str(repo.path),
        branch=place.branch,
        base=place.base,
        today="2026-11-30",
        focus="",
        unwanted=(),
        user_entries=(),
        conversations=(),
    )
    return replace(told, **more)
