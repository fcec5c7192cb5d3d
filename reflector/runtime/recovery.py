"""What a dead supervisor left active is brought to an end: git is the evidence, the row the intent."""

from __future__ import annotations

from dataclasses import replace

from reflector.core.run import Outcome, Phase, Reason, Run, Settlement
from reflector.runtime import log as events
from reflector.runtime.bench import Bench, circumstances, failed, keep, planned, settle
from reflector.runtime.integration import landed
from reflector.runtime.kept import retried, waits_again
from reflector.runtime.leftovers import clean_up
from reflector.runtime.processes import end_strays
from reflector.runtime.supervisor import read_result, resume
from reflector.store import aftermath, reservations, reviews
from reflector.store.disk import on_disk
from reflector.vcs import worktree
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads
from reflector.vcs.worktree import Worktree

_MOST_DEATHS = 3
"""So many supervisors may die in one phase of a run before it is given up."""


def recover(bench: Bench, slot: str) -> list[Run]:
    """Settle every active run of a slot whose presence lock this process holds.

    Holding the lock proves that the owner is dead. Its processes are ended first, so that nothing
    writes into the worktree while it is judged.
    """
    recovered = [
        _recover(bench, run) for run in reservations.abandoned(bench.state.connection, slot)
    ]
    _tidy(bench)
    return recovered


def _tidy(bench: Bench) -> None:
    """Remove the worktrees of settled runs whose owner died before it could."""
    worktrees = bench.context.agent.worktrees
    with on_disk(worktrees):
        folders = list(worktrees.iterdir())
    for folder in folders:
        _, _, run_id = folder.name.partition("-")
        run = reservations.known(bench.state.connection, run_id)
        if run is not None and run.settlement is not None and run.base is not None:
            place = planned(bench.context, run, run.base)
            clean_up(bench.git, bench.context.agent, run.id, place, bench.log)


def _recover(bench: Bench, run: Run) -> Run:
    reservations.adopt(bench.state, run.id, bench.who, bench.context.ambient.now())
    end_strays(run.id)
    bench.log.warning(events.RUN_RECOVERED, run=run.id, phase=run.phase.value)
    place = planned(bench.context, run, run.base) if run.base else None
    died = _died(bench, run)
    end = _given_up(bench, run, died) if died >= _MOST_DEATHS else _end(bench, run, place)
    result = read_result(bench.context.agent.run(run.id))
    paid = result["finish"]["usage"] if result else {}
    settled = settle(bench, run, replace(end, usage=paid), place)
    if died:
        with bench.state.transaction() as connection:
            aftermath.forget_deaths(connection, run.id)
    return settled


def _died(bench: Bench, run: Run) -> int:
    """Return how many supervisors this phase of a run has killed: before it is tried once more."""
    if run.phase not in (Phase.VALIDATING, Phase.INTEGRATING):
        return 0  # it is settled at once, and that counts
    given = circumstances(bench)
    with bench.state.transaction() as connection:
        died = aftermath.note_death(connection, run)
        if died < _MOST_DEATHS:
            # The run goes on, but back-off and park see each death as they see a failure.
            end = failed(Reason.SUPERVISOR_DIED, f"Died while {run.phase}.")
            aftermath.after_run(connection, run, end, given)
    return died


def _given_up(bench: Bench, run: Run, died: int) -> Settlement:
    """End a run that nobody survives. Git is only looked at: whatever more was done killed them."""
    with Reads(bench.context.agent.repo) as reads:
        main = reads.resolve(MAIN)
        landed = bool(run.tip and main) and reads.is_ancestor(run.tip or "", main or "")
    if landed and run.phase is Phase.INTEGRATING:
        return Settlement(Outcome.MERGED, tip=run.tip, merge_commit=run.merge_commit)
    tip = run.tip if run.tip != run.base else None
    approved = reviews.decided(bench.state.connection, run.id)  # its cursor moved long ago
    kept = keep(bench, run.id, "review" if approved else "backup", tip)
    detail = f"{died} supervisors died while {run.phase}."
    end = failed(Reason.SUPERVISOR_DIED, detail, tip=run.tip, kept_ref=kept)
    return waits_again(bench, run.id, end) if approved else end


def _end(bench: Bench, run: Run, place: Worktree | None) -> Settlement:
    """Finish what was paid for; what cannot be finished is kept, and its rows are read again."""
    if run.phase in (Phase.INTEGRATING, Phase.INTEGRATED):
        return _integration(bench, run)
    finished = resume(bench, run, place) if place is not None else None
    if finished is not None:
        return finished
    tip = worktree.inspect(bench.context.agent.repo, place).tip if place else None
    kept = keep(bench, run.id, "backup", tip) if tip != run.base else None
    return failed(Reason.SUPERVISOR_DIED, f"Died while {run.phase}.", tip=tip, kept_ref=kept)


def _integration(bench: Bench, run: Run) -> Settlement:
    """Tell from git whether the merge landed, else merge again."""
    base, tip = run.base, run.tip
    if base is None or tip is None:
        return failed(Reason.SUPERVISOR_DIED, "Died while integrating without a tip.")
    commit = landed(bench, run, base, tip)
    if commit is not None or run.phase is Phase.INTEGRATED:
        # What landed stays merged, even if a person has taken it out of main since.
        return Settlement(Outcome.MERGED, tip=tip, merge_commit=commit or run.merge_commit)
    return retried(bench, run, base, tip)
