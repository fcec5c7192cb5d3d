"""A dream that a person asks for: the memory itself gone over, in the foreground."""

from __future__ import annotations

from collections.abc import Sequence

from reflector.core.errors import BusyError, DayLimitError, PathError, SettingsError, UsageError
from reflector.core.machine import SLOT
from reflector.core.run import Run
from reflector.core.schedule import Manual, Refuse, Why
from reflector.memory.tree import is_document, parse_path
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import bench_for
from reflector.runtime.recovery import recover
from reflector.runtime.reflect import pass_on, reserved_before
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context

_SLOT = SLOT["dream"]


def dream(
    context: Context,
    watch: Watch,
    target: str | None = None,
    *,
    over_budget: bool = False,
    child: Sequence[str] = CHILD,
) -> tuple[Run, ...]:
    """Dream once, over the whole memory or one document; return the runs in order.

    What was reserved before goes first. Raises SettingsError when the engine cannot dream,
    UsageError for a target that is no document, DayLimitError, BusyError while a run is active.
    """
    context.require()
    if target is not None:  # an empty one, of a variable that is not set, is not the whole memory
        _must_be_document(target)
    with bench_for(context, _SLOT, watch, child) as bench:
        if bench is None:
            raise BusyError(
                "Another run is active in this memory.", hint="Dream again when it has ended."
            )
        recover(bench, _SLOT)
        before = list(reserved_before(bench))
        event = Manual("cli", pipeline="dream", target=target or "", over_budget=over_budget)
        decision = Scheduler(context, bench.state).handle(event)
        if isinstance(decision, Refuse):
            raise _refusal(context, decision)
        runs = (*before, *reserved_before(bench))
    if not watch.stop():
        pass_on(context)
    return runs


def _must_be_document(target: str) -> None:
    try:
        known = is_document(parse_path(target))
    except PathError as error:
        raise UsageError(
            error.message, hint="Name a document by its path in the memory."
        ) from error
    if not known:
        raise UsageError(
            f"{target} is no document of the memory.",
            hint="`reflector memory ls` lists the documents.",
        )


def _refusal(context: Context, refused: Refuse) -> SettingsError | DayLimitError | BusyError:
    if refused.why is Why.CANNOT_DREAM:
        name = context.settings.text("engine.name")
        return SettingsError(
            f"The engine {name!r} does not dream: it only reads what was said in so many words.",
            hint="Choose one that asks a model: `--engine anthropic`, `--engine command`, or "
            "engine.name in config.toml.",
            key="engine.name",
        )
    if refused.why in (Why.DAY_RUNS, Why.DAY_COST):
        return DayLimitError(
            "A limit of the day is reached.",
            hint="`--over-budget` dreams all the same. The limits are `day.max_runs` and "
            "`day.max_cost_usd`.",
            why=refused.why.value,
        )
    return BusyError(f"No dream can start now ({refused.why.value}).", hint="Try again later.")
