"""Small forced calls of this identity: whom to ask, what may be spent, and where calls are recorded."""

from __future__ import annotations

from dataclasses import replace

from reflector.agent.engine import Record, Route, Step
from reflector.core.errors import HomeError
from reflector.runtime.routing import route
from reflector.runtime.steps import StepLog
from reflector.runtime.wiring import Context
from reflector.store.disk import make_folder

JOBS = "jobs"
_IDLE_SECONDS = 60


def small_route(context: Context) -> Route:
    """Return the way to the small model, for a child that gets address and key by its environment."""
    model = context.settings.text("models.small")
    return replace(route(context.settings, context.environ, model), idle_seconds=_IDLE_SECONDS)


def own_route(context: Context) -> Route:
    """Return the same for this process, which gets the address from the settings."""
    return replace(small_route(context), base_url=context.settings.text("engine.base_url"))


def job_record(context: Context, name: str) -> Record | None:
    """Return where the calls of a job outside of runs are recorded; None when nobody wants to know.

    `name` keeps the files of jobs of one day apart. A disk that is full fails no job.
    """
    if not context.settings.flag("log.steps"):
        return None
    day = context.ambient.now()[:10]
    folder = context.agent.path / "runs" / JOBS / day
    try:
        make_folder(folder)
    except HomeError:
        return _nowhere
    return StepLog(folder, context.ambient, f"{name}-")


def _nowhere(_step: Step) -> None:
    """Lose a record."""
