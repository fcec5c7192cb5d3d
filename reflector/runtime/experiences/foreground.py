"""Segments extracted while a person waits: the runs, and why no more is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.errors import BusyError, NotFoundError
from reflector.core.run import Run
from reflector.runtime.calls.waits import Waits
from reflector.runtime.experiences.due import Wish
from reflector.runtime.experiences.names import SLOT
from reflector.runtime.experiences.reserving import extract
from reflector.runtime.kept import bring_home
from reflector.runtime.launch import CHILD
from reflector.runtime.loop import bench_for
from reflector.runtime.recovery import recover
from reflector.runtime.scheduling import Scheduler
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import journal, segments
from reflector.store.state import Connection, State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it. `waiting` are the conversations in which something is left to read."""

    runs: tuple[Run, ...]
    end: Waits
    waiting: tuple[str, ...]


def extract_now(
    context: Context, watch: Watch, wish: Wish, child: Sequence[str] = CHILD
) -> Outcome:
    """Extract what is asked for, one run after the other.

    Raises NotFoundError for an unknown conversation, BusyError beside another worker.
    """
    context.require()
    with bench_for(context, SLOT, watch, child) as bench:
        if bench is None:
            raise BusyError(
                "The conversations of this memory are being extracted already.",
                hint="`reflector status` shows the run; try again when it has ended.",
            )
        _begin(bench.state, wish)
        Scheduler(context, bench.state).at_start()
        runs = [*recover(bench, SLOT), *bring_home(bench, SLOT)]
        more, end = extract(bench, wish)
        left = segments.waiting(bench.state.connection)
        return Outcome((*runs, *more), end, tuple(each.conversation for each in left))


def _begin(state: State, wish: Wish) -> None:
    with state.transaction() as connection:
        for name in (*wish.conversations, *(each.conversation for each in wish.ranges)):
            _known(connection, name)
            if wish.everything and not wish.dry_run:
                segments.read_again(connection, name)


def _known(connection: Connection, name: str) -> None:
    found = journal.conversation(connection, name)
    if found is None or found.hidden:
        raise NotFoundError(
            f"There is no conversation {name[:200]} in the journal.",
            hint="`reflector status` lists the conversations.",
        )
    if found.parent is not None:
        raise NotFoundError(
            f"{name} is the conversation of a subagent, and is never read by itself.",
            hint=f"What it reported is read with {found.parent}.",
        )
