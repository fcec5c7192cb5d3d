"""The diary in the background: turns are judged, then written down, and once a day it sleeps."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from reflector.core.ambient import stamp
from reflector.core.errors import ReflectorError
from reflector.runtime.calls.names import ASKS
from reflector.runtime.diary.names import AWAKE, TROUBLE
from reflector.runtime.wiring import Context
from reflector.store import diary, scheduling
from reflector.store.state import Connection, State

if TYPE_CHECKING:
    from reflector.runtime.background.pipelines import Round
    from reflector.runtime.bench import Bench
    from reflector.runtime.calls.waits import Waits
    from reflector.runtime.diary.asking import Caller

_PAUSE = timedelta(minutes=30)

# Only where something waits is the rest imported: most events must not pay for what rules on it.


def anything(connection: Connection) -> bool:
    """Tell whether a turn waits, or something for the next night."""
    return (
        diary.any_waiting(connection)
        or bool(diary.taken_back(connection))
        or scheduling.mark(connection, AWAKE) is not None
        or diary.any_mentioned(connection)
    )


def at_once(context: Context, state: State, until: float) -> None:
    """Do nothing: whatever the diary writes by itself, a model has said."""


def wanted(context: Context, state: State) -> bool:
    """Tell whether a worker would find something to do now."""
    if not context.settings.flag("diary.enabled"):
        return False
    from reflector.runtime.calls.allowance import look  # noqa: PLC0415
    from reflector.runtime.calls.waits import Waits  # noqa: PLC0415
    from reflector.runtime.diary.asking import AUTOMATIC  # noqa: PLC0415
    from reflector.runtime.diary.consolidating import closed  # noqa: PLC0415
    from reflector.runtime.diary.sleep import due  # noqa: PLC0415

    connection = state.connection
    if paused(context, connection):
        return False
    asks = context.settings.text("engine.name") == ASKS
    held = asks and isinstance(look(context, state, AUTOMATIC), Waits)
    may_write = not (held or closed(context))
    return bool(
        diary.taken_back(connection)
        or (asks and not held and diary.jobs(connection, "heard", limit=1))
        or (asks and may_write and diary.jobs(connection, "judged", limit=1))
        or (may_write and due(context, connection))
    )


def work(bench: Bench) -> Round:
    """Judge and write down what waits; then sleep, if a night is due."""
    from reflector.runtime.background.pipelines import Round  # noqa: PLC0415
    from reflector.runtime.diary.asking import Caller  # noqa: PLC0415

    context = bench.context
    if not context.settings.flag("diary.enabled"):
        return Round((), None)
    caller = Caller(context, bench.state, lambda: _parked(bench))
    try:
        held = [each for each in _steps(bench, caller) if each is not None]
    except ReflectorError as error:  # a newer schema, a person's work in the way, a full disk
        _pause(bench, error)
        raise
    finally:
        caller.close()
    with bench.state.transaction() as connection:
        scheduling.clear_mark(connection, TROUBLE)
    times = [each.until for each in held if each.until is not None]
    return Round((), min(times, default=None))


def _steps(bench: Bench, caller: Caller) -> list[Waits | None]:
    from reflector.runtime.calls.waits import Waits  # noqa: PLC0415
    from reflector.runtime.diary.consolidating import closed, consolidate_all  # noqa: PLC0415
    from reflector.runtime.diary.judging import judge_all  # noqa: PLC0415
    from reflector.runtime.diary.repository import Repository  # noqa: PLC0415
    from reflector.runtime.diary.sleep import due, sleep, wake  # noqa: PLC0415
    from reflector.runtime.diary.taking_back import take_back  # noqa: PLC0415

    stop = bench.watch.stop
    done: list[Waits | None] = []
    repository = Repository(bench.context)
    if repository.locked:
        repository.recover()
    wake(bench.context, bench.state)  # first: a night whose commit is there is no second time due
    take_back(bench.context, bench.state)
    if bench.context.settings.text("engine.name") == ASKS:
        done.append(judge_all(caller, stop))
        done.append(consolidate_all(caller, stop, lambda why: _dropped(bench, why)))
    if not stop() and due(bench.context, bench.state.connection):
        hold = closed(bench.context)
        slept = hold or sleep(caller, stop)
        done.append(slept if isinstance(slept, Waits) else None)
        if not isinstance(slept, Waits):
            from reflector.runtime import log  # noqa: PLC0415 - only a worker logs

            bench.log.info(log.NIGHT_ENDED, night=slept.id, commit=slept.commit, **slept.counts)
    return done


def newest(connection: Connection) -> int:
    """Return the last turn that was noted."""
    return diary.newest(connection)


def _parked(bench: Bench) -> None:
    from reflector.runtime import log  # noqa: PLC0415 - only a worker logs

    bench.log.warning(log.ROUTE_PARKED, run="", engine=ASKS)


def _dropped(bench: Bench, why: str) -> None:
    from reflector.runtime import log  # noqa: PLC0415 - only a worker logs

    bench.log.warning(log.TURN_DROPPED, reason=why)


def _pause(bench: Bench, error: ReflectorError) -> None:
    """Let events begin no worker for a while: it would ask the model and fail again."""
    from reflector.core.redact import redact  # noqa: PLC0415

    until = bench.context.ambient.clock.now() + _PAUSE
    told = json.dumps({"error": redact(error.message).text[:512], "until": stamp(until)})
    with bench.state.transaction() as connection:
        scheduling.set_mark(connection, TROUBLE, told)


def paused(context: Context, connection: Connection) -> bool:
    """Tell whether the diary could not be written a short while ago."""
    found = scheduling.facts(connection, TROUBLE)
    until, now = str(found.get("until", "")), context.ambient.clock.now()
    # A distance: a clock that was set back must not put it off for long.
    return bool(until) and stamp(now) < until < stamp(now + 2 * _PAUSE)
