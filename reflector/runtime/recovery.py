"""What a dead supervisor left active is brought to an end: git is the evidence, the row the intent."""

from __future__ import annotations

from reflector.core.run import Outcome, Phase, Reason, Run, Settlement
from reflector.runtime import log as events
from reflector.runtime.bench import Bench, failed, keep, planned, settle
from reflector.runtime.leftovers import clean_up
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.processes import end_strays
from reflector.store import reservations
from reflector.vcs import merge, worktree
from reflector.vcs.merge import Bring, Integration


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
    for folder in bench.context.agent.worktrees.iterdir():
        _, _, run_id = folder.name.partition("-")
        run = reservations.known(bench.state.connection, run_id)
        if run is not None and run.settlement is not None and run.base is not None:
            place = planned(bench.context, run, run.base)
            clean_up(bench.git, bench.context.agent, run.id, place, bench.log)


def _recover(bench: Bench, run: Run) -> Run:
    reservations.adopt(bench.state, run.id, bench.who)
    end_strays(run.id)
    bench.log.warning(events.RUN_RECOVERED, run=run.id, phase=run.phase.value)
    place = planned(bench.context, run, run.base) if run.base else None
    if run.phase in (Phase.INTEGRATING, Phase.INTEGRATED):
        end = _integration(bench, run)
    else:
        tip = worktree.inspect(bench.context.agent.repo, place).tip if place else None
        kept = keep(bench, run.id, "backup", tip) if tip != run.base else None
        end = failed(Reason.SUPERVISOR_DIED, f"Died while {run.phase}.", tip=tip, kept_ref=kept)
    return settle(bench, run, end, place)


def _integration(bench: Bench, run: Run) -> Settlement:
    """Tell from git whether the merge landed; taking the lock lets files follow that had not."""
    if run.base is None or run.tip is None:
        return failed(Reason.SUPERVISOR_DIED, "Died while integrating without a tip.")
    change = Bring(run.base, run.tip)
    now = bench.context.ambient.clock.now()
    with memory_write(bench.context) as git:
        landed = merge.landed(git, Integration(change, "", now, run.id, bench.who.token))
    if landed is not None:
        return Settlement(Outcome.MERGED, tip=run.tip, merge_commit=landed)
    kept = keep(bench, run.id, "backup", run.tip)
    return failed(Reason.SUPERVISOR_DIED, "Died before the merge.", kept_ref=kept)
