"""What a supervisor works with, and how any run of it is kept and settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structlog.typing import FilteringBoundLogger

from reflector.core.errors import GitError, RefMovedError
from reflector.core.redact import redact
from reflector.core.run import Outcome, Reason, Run, Settlement
from reflector.runtime import block_cache
from reflector.runtime import log as events
from reflector.runtime.leftovers import clean_up
from reflector.runtime.scheduling import route_settings
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import reservations, scheduling
from reflector.store.locks import Owner
from reflector.store.state import State
from reflector.vcs import worktree
from reflector.vcs.porcelain import Porcelain
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed
from reflector.vcs.worktree import Worktree


@dataclass(frozen=True, slots=True)
class Bench:
    """What a supervisor works with. It holds the slot's presence lock all the time.

    `child` is the command that starts a run's child; the run's folder is added to it.
    """

    context: Context
    state: State
    who: Owner
    log: FilteringBoundLogger
    watch: Watch
    child: Sequence[str]

    @property
    def git(self) -> Porcelain:
        """Return the door to changes of the memory repository."""
        return Porcelain(Scrubbed(self.context.environ), self.context.agent.repo)


def _circumstances(bench: Bench) -> scheduling.Circumstances:
    ambient, settings = bench.context.ambient, bench.context.settings
    return scheduling.Circumstances(
        now=ambient.clock.now(),
        chance=int(ambient.chance.hex(8), 16) / 2**32,
        max_bytes=settings.number("snapshot.max_bytes"),
        settings=route_settings(settings),
    )


def failed(reason: Reason, detail: str = "", **values: Any) -> Settlement:
    """Return a failure's settlement; the detail is redacted and kept short."""
    return Settlement(Outcome.FAILED, reason, redact(detail).text[:512], **values)


def planned(context: Context, run: Run, base: str) -> Worktree:
    """Return the worktree of a run, whether or not it exists."""
    epoch = int(run.reserved_at.replace("-", "")[:8])
    agent = context.agent
    return worktree.planned(agent.repo, agent.worktrees, epoch, run.id, base)


def keep(bench: Bench, run_id: str, kind: str, tip: str | None) -> str | None:
    """Keep a tip under `refs/reflector/<kind>/<run-id>`, so that no clean-up loses it."""
    if tip is None:
        return None
    ref = f"refs/reflector/{kind}/{run_id}"
    with Reads(bench.context.agent.repo) as reads:
        if reads.resolve(ref) == tip:
            return ref
    try:
        bench.git.update_ref(ref, tip, None)
    except RefMovedError:
        return None
    return ref


def _let_go(bench: Bench, run_id: str) -> None:
    """Drop the ref of a tip that waited and is in main now; what is left of it, a sweep removes."""
    ref = f"refs/reflector/kept/{run_id}"
    try:
        with Reads(bench.context.agent.repo) as reads:
            tip = reads.resolve(ref)
        if tip is not None:
            bench.git.delete_ref(ref, tip)
    except GitError as error:
        bench.log.warning(events.CLEANUP_FAILED, run=run_id, error=str(error))


def settle(bench: Bench, run: Run, end: Settlement, place: Worktree | None) -> Run:
    """Record the end, then clean up: the decision is durable before anything is removed."""
    now = bench.context.ambient.now()
    parked: list[bool] = []
    given = _circumstances(bench)
    reservations.settle(
        bench.state,
        run.id,
        bench.who.token,
        end,
        now,
        also=lambda connection: parked.append(scheduling.after_run(connection, run, end, given)),
    )
    if any(parked):
        bench.log.warning(events.ROUTE_PARKED, run=run.id, engine=run.request.engine)
    bench.log.info(
        events.RUN_SETTLED,
        run=run.id,
        outcome=end.outcome.value,
        reason=end.reason.value if end.reason else "",
        snapshots=[each.as_json() for each in run.snapshots],
        merge_commit=end.merge_commit or "",
    )
    if end.outcome is Outcome.MERGED:
        block_cache.refresh(bench.context)
        _let_go(bench, run.id)
    if place is not None:
        clean_up(bench.git, bench.context.agent, run.id, place, bench.log)
    return reservations.find(bench.state.connection, run.id)
