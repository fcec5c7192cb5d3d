"""What is abnormal, in sentences that name the thing and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from reflector.core.ambient import instant, stamp
from reflector.core.errors import PausesError
from reflector.core.park import Parked, Unreadable
from reflector.core.run import Phase, Run
from reflector.runtime import pauses, push
from reflector.runtime.forgetting import intent
from reflector.runtime.overdue import late_owner
from reflector.runtime.sandbox_probe import Outlook
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling, sources, spool
from reflector.store.locks import Lock
from reflector.store.reservations import Owned
from reflector.store.state import State
from reflector.vcs.glance import Glance
from reflector.vcs.whereabouts import operation, trouble

_NEWS = timedelta(days=7)
_COMING = timedelta(minutes=1)
_LOST = {
    "payload": "payload over 4 MiB",
    "line": "line over 4 KiB",
    "torn": "line that is not whole: was the disk full?",
}


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


def _lost(context: Context) -> Iterator[Problem]:
    counts, last_at = spool.lost(context.home.path / "spool")
    if not counts or context.ambient.clock.now() - instant(last_at) > _NEWS:
        return
    told = ", ".join(f"{count} ({_LOST.get(kind, kind)})" for kind, count in counts.items())
    yield Problem(
        "hook_events_lost",
        f"Hook events could not be passed on whole: {told}; the last one at {last_at}.",
        "The next event of the same session reads what they told of; `reflector ingest FILE` now.",
    )


def problems(context: Context, state: State, git: Glance, active: tuple[Run, ...]) -> list[Problem]:
    """Return everything abnormal that a look can find, each with its next step."""
    found = [*_pauses(context), *_lost(context), *_scheduling(context, state)]
    found += [Problem(*each) for each in push.troubles(context, state.connection)]
    found += [_degraded(*each) for each in sources.degraded(state.connection)]
    if git.branch != "main":
        found.append(
            Problem(
                "not_on_main",
                f"The memory repository is on {git.branch or 'no branch'}, not on main.",
                f"git -C {context.agent.repo} switch main",
            )
        )
    if doing := operation(context.agent.repo / ".git"):
        found.append(
            Problem(
                "in_the_middle",
                trouble(git.branch, doing),
                f"Finish or abort the {doing} in {context.agent.repo}; until then no run begins.",
            )
        )
    found += [_waiting(run) for run in reservations.kept(state.connection)]
    found += _forgetting(context)
    for run in active:
        if _abandoned(context, run):
            found.append(_interrupted(run))
        elif late := late_owner(context, state, run.slot):
            found.append(_stuck(late))
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


def _stuck(late: Owned) -> Problem:
    return Problem(
        "owner_stuck",
        f"The owner of run {late.run} (process {late.who.pid} on {late.who.host}) is past its "
        f"deadline and has not been heard of since {late.seen_at}.",
        "The next supervisor or `reflector reflect` ends it and brings the run to an end.",
    )


def _degraded(path: str, why: str) -> Problem:
    return Problem(
        "source_degraded",
        f"{path} could not be read ({why}).",
        "Ingest it again once it can be read; what was read before is kept.",
    )


def _forgetting(context: Context) -> list[Problem]:
    said = intent.unfinished(context.agent)
    return [Problem("forget_unfinished", said, intent.FINISH)] if said else []


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
    age = context.ambient.clock.now() - instant(run.reserved_at)
    if run.phase is Phase.RESERVED and timedelta() <= age < _COMING:
        return False  # whoever reserved it has launched its supervisor, which takes a moment
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
