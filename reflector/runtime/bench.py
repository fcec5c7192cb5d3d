"""What a supervisor works with, and how any run of it is kept and settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from structlog.typing import FilteringBoundLogger

from reflector.core.errors import GitError, ReflectorError, RefMovedError
from reflector.core.redact import redact
from reflector.core.run import Outcome, Reason, Run, Settlement
from reflector.runtime import block_cache, news, notice_file, push
from reflector.runtime import log as events
from reflector.runtime.brought import brought
from reflector.runtime.cleansing import cleanse, expunge_secrets, holds_secret
from reflector.runtime.decisions import settling
from reflector.runtime.experiences.names import PIPELINE as EXPERIENCES
from reflector.runtime.leftovers import clean_up
from reflector.runtime.scheduling import route_settings
from reflector.runtime.watch import Watch
from reflector.runtime.wiring import Context
from reflector.store import reservations, reviews, unwanted
from reflector.store.aftermath import Circumstances, after_run
from reflector.store.locks import Owner
from reflector.store.state import Connection, State
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


def circumstances(bench: Bench) -> Circumstances:
    """Return what the end of a run depends on besides itself."""
    ambient, settings = bench.context.ambient, bench.context.settings
    return Circumstances(
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
    if kind == "backup" and holds_secret(bench.context.agent, run_id, tip):
        return None  # nobody validated it: kept, it would keep the secret
    ref = f"refs/reflector/{kind}/{run_id}"
    with Reads(bench.context.agent.repo) as reads:
        if reads.resolve(ref) == tip:
            return ref
    try:
        bench.git.update_ref(ref, tip, None)
    except RefMovedError:
        return None
    return ref


def let_go(context: Context, log: FilteringBoundLogger, run_id: str, named: str | None) -> None:
    """Drop the refs under which a tip waited, but the one that its run names.

    What is left of them, a sweep removes.
    """
    try:
        with Reads(context.agent.repo) as reads:
            refs = [f"refs/reflector/{kind}/{run_id}" for kind in ("kept", "review")]
            found = {ref: tip for ref in refs if ref != named and (tip := reads.resolve(ref))}
        git = Porcelain(Scrubbed(context.environ), context.agent.repo)
        for ref, tip in found.items():
            git.delete_ref(ref, tip)
    except GitError as error:
        log.warning(events.CLEANUP_FAILED, run=run_id, error=str(error))


def _said(bench: Bench, run_id: str, end: Settlement) -> Mapping[str, Sequence[str]]:
    """Return what a merged run says that was not said before, line by line for each document."""
    base = reservations.find(bench.state.connection, run_id).base
    if end.outcome is not Outcome.MERGED or not base or not end.tip:
        return {}
    try:
        return brought(bench.context, base, end.tip)
    except ReflectorError:  # it is merged all the same
        return {}


def settle(bench: Bench, run: Run, end: Settlement, place: Worktree | None) -> Run:
    """Record the end, then clean up: the decision is durable before anything is removed."""
    now = bench.context.ambient.now()
    parked: list[bool] = []
    given = circumstances(bench)
    said = _said(bench, run.id, end)
    lines = [line for each in said.values() for line in each]
    # Of an extraction each document is one thing, of all else each line.
    learned = len(said) if run.request.pipeline == EXPERIENCES else len(lines)
    approved = reviews.decided(bench.state.connection, run.id)
    changes = settling.read_changes(bench.context.agent.run(run.id))

    def also(connection: Connection) -> None:
        if approved:
            # Who approves it wants these lines, even if they were undone before. Of engine and
            # route it tells nothing: that counted when the run began to wait.
            unwanted.forget_lines(connection, lines)
        else:
            parked.append(after_run(connection, run, end, given))
        settling.settled(connection, run, end, changes, now)
        if end.outcome is Outcome.MERGED:
            news.learned_more(connection, run.id, learned)

    cleanse(bench.context.agent.run(run.id))
    reservations.settle(bench.state, run.id, bench.who.token, end, now, also=also)
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
    notice_file.refresh(bench.context)
    if end.outcome is Outcome.MERGED:
        block_cache.refresh(bench.context)
        push.begin(bench.context)
    if end.outcome in (Outcome.MERGED, Outcome.AWAITING_REVIEW):
        let_go(bench.context, bench.log, run.id, end.kept_ref)
    if place is not None:
        _clean_up(bench, run.id, place)
    return reservations.find(bench.state.connection, run.id)


def _clean_up(bench: Bench, run_id: str, place: Worktree) -> None:
    agent = bench.context.agent
    clean_up(bench.git, agent, run_id, place, bench.log)
    # What the validator refused, or a repair amended, is in git until somebody takes it out.
    if trouble := expunge_secrets(bench.git, agent, run_id):
        bench.log.warning(events.CLEANUP_FAILED, run=run_id, error=trouble)
