"""What is abnormal, in sentences that name the thing and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reflector.core.ambient import stamp
from reflector.core.errors import PausesError
from reflector.core.park import Parked, Unreadable
from reflector.core.run import Run
from reflector.runtime import pauses
from reflector.runtime.sandbox_probe import Outlook
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling, sources
from reflector.store.locks import Lock
from reflector.store.state import State
from reflector.vcs.glance import Glance


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that wants attention, and the next step."""

    code: str
    message: str
    hint: str


def _pauses(context: Context) -> Iterator[Problem]:
    try:
        pauses.read(context.home)
    except PausesError as error:
        yield Problem(error.code, error.message, error.hint)


def problems(context: Context, state: State, git: Glance, active: tuple[Run, ...]) -> list[Problem]:
    """Return everything abnormal that a look can find, each with its next step."""
    found = [*_pauses(context), *_scheduling(context, state)]
    found += [_degraded(*each) for each in sources.degraded(state.connection)]
    if git.branch != "main":
        found.append(
            Problem(
                "not_on_main",
                f"The memory repository is on {git.branch or 'no branch'}, not on main.",
                f"git -C {context.agent.repo} switch main",
            )
        )
    found += [_waiting(run) for run in reservations.kept(state.connection)]
    found += [_interrupted(run) for run in active if _abandoned(context, run)]
    return found


def refused(sandbox: Outlook) -> Iterator[Problem]:
    """Yield the problem that no run of the chosen engine can start without its sandbox."""
    if sandbox.refused:
        yield Problem(
            "sandbox_unavailable",
            f"{sandbox.sentence[:1].upper()}{sandbox.sentence[1:]}.",
            "Install bubblewrap or mend the cause, then `reflector doctor` tries again; "
            "or set sandbox = auto.",
        )


def _degraded(path: str, why: str) -> Problem:
    return Problem(
        "source_degraded",
        f"{path} could not be read ({why}).",
        "Ingest it again once it can be read; what was read before is kept.",
    )


def _waiting(run: Run) -> Problem:
    detail = run.settlement.detail if run.settlement else ""
    return Problem(
        "tip_waits",
        f"Run {run.id} is validated but not merged: {detail}",
        "Commit or put away those changes; the next `reflector reflect` merges it.",
    )


def _interrupted(run: Run) -> Problem:
    return Problem(
        "run_interrupted",
        f"Run {run.id} was interrupted while {run.phase}.",
        "The next `reflector reflect` brings it to an end.",
    )


def _abandoned(context: Context, run: Run) -> bool:
    presence = Lock(context.agent.lock(f"run-{run.slot}"))
    free = presence.take(shared=True)
    presence.release()
    return free


def _scheduling(context: Context, state: State) -> Iterator[Problem]:
    connection = state.connection
    if scheduling.mark(connection, scheduling.JOURNAL_LOST):
        yield Problem(
            scheduling.JOURNAL_LOST,
            "The state database was damaged and moved aside; automatic runs are off.",
            "`reflector doctor --fix` reads the known transcripts again and sets the cursors.",
        )
    breaker = scheduling.park_state(connection, context.settings.text("engine.name"))
    if isinstance(breaker, Unreadable):
        yield Problem("park_unreadable", breaker.why, "`reflector park clear` starts it anew.")
    if isinstance(breaker, Parked):
        last = breaker.streak.last
        yield Problem(
            "parked",
            f"Automatic runs are parked after {breaker.streak.failures} failures ({last.reason}); "
            f"next probe {stamp(breaker.next_probe_at)}.",
            "Mend the cause, then `reflector reflect`, or `reflector park clear`.",
        )
    for aside in scheduling.set_asides(connection):
        yield Problem(
            "set_aside",
            f"{aside['conversation']} {aside['first_entry']}..{aside['last_entry']} was set aside: "
            "no run survived it.",
            f"`reflector retry {aside['run']}` reads it again.",
        )
