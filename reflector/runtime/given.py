"""What every run is given, whatever its pipeline: who works where, on what, and what nobody wants."""

from __future__ import annotations

from reflector.core.run import Run
from reflector.runtime.payload import Payload
from reflector.runtime.wiring import Context
from reflector.store import unwanted
from reflector.store.state import State
from reflector.vcs.worktree import Worktree


def given(context: Context, state: State, run: Run, place: Worktree) -> Payload:
    """Return the payload of a run before its pipeline has added what is to be read."""
    return Payload(
        run_id=run.id,
        pipeline=run.request.pipeline,
        engine=run.request.engine,
        agent_id=context.agent.identity,
        identity=context.agent.identity,
        worktree=str(place.path),
        repository=str(context.agent.repo),
        branch=place.branch,
        base=place.base,
        today=context.ambient.clock.now().astimezone().date().isoformat(),
        focus=run.request.focus,
        unwanted=unwanted.last(state.connection),
        user_entries=(),
        conversations=(),
        review=context.settings.text("merge") == "review",
        target=run.request.target,
        log_steps=context.settings.flag("log.steps"),
    )
