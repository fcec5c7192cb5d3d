"""Validated tips that waited for the memory to be free are merged without an engine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from structlog.typing import FilteringBoundLogger

from reflector.core.ambient import instant
from reflector.core.errors import BusyError
from reflector.core.redact import redact
from reflector.core.run import Outcome, Run, Settlement
from reflector.core.sweep import RETENTION_DAYS
from reflector.runtime import log as events
from reflector.runtime.bench import Bench, keep, let_go, settle
from reflector.runtime.brought import Lines
from reflector.runtime.integration import Validated, integrate, scope, surely
from reflector.runtime.judgement import Kept, judge_kept, reasons
from reflector.runtime.waiting import BY_SETTING, DAYS, waits
from reflector.runtime.wiring import Context
from reflector.store import reservations, reviews, unwanted
from reflector.store.state import State
from reflector.vcs.reads import Reads


def bring_home(bench: Bench, slot: str = "reflection") -> Iterator[Run]:
    """Try again to merge the validated tips of a slot that waited for the memory to be free.

    What waited too long for a person is given up first.
    """
    _give_up_reviews(bench)
    for run in reservations.kept(bench.state.connection, slot):
        if bench.watch.stop():
            return
        if run.base is None or run.tip is None or run.branch is None:
            continue
        try:
            reservations.reopen(bench.state, run.id, bench.who, bench.context.ambient.now())
        except BusyError:
            return  # an event has reserved a run meanwhile: what holds the slot goes first
        end = _given_up(bench, run, retried(bench, run, run.base, run.tip))
        before = run.settlement.usage if run.settlement else {}
        yield settle(bench, run, replace(end, usage=before), None)  # it was paid for once


def _give_up_reviews(bench: Bench) -> None:
    """End the runs that nobody looked at in their time; status has said so for days.

    Nobody said no to them, so their lines may be written again. `retry` reads their ranges again.
    """
    now = bench.context.ambient.clock.now()
    for each in waits(bench.state):
        if each.until <= now:
            detail = f"Nobody reviewed it within {DAYS} days."
            with contextlib.suppress(BusyError):  # somebody decides at this very moment
                drop(bench.context, bench.state, bench.log, each.run, detail, {})


def drop(
    context: Context,
    state: State,
    log: FilteringBoundLogger,
    run: Run,
    detail: str,
    lines: Lines,
) -> None:
    """End a run that waits for a person as rejected: in the ledger first, then its ref goes.

    `lines` are not to be written again. Raises BusyError when it waits no longer.
    """
    now, end = context.ambient.now(), Settlement(Outcome.REJECTED, detail=detail)
    with state.transaction() as connection:
        reviews.reject(connection, run.id, end, now)
        unwanted.record(connection, run.id, lines, "rejected", now)
    log.info(events.RUN_SETTLED, run=run.id, outcome=end.outcome.value, reason="")
    let_go(context, log, run.id, None)


def _given_up(bench: Bench, run: Run, end: Settlement) -> Settlement:
    """Let the rows of a tip that waited too long be read again; the tip goes with the next sweep."""
    age = bench.context.ambient.clock.now() - instant(run.reserved_at)
    days = RETENTION_DAYS["ref"]
    if end.outcome is not Outcome.PARENT_DIRTY or age < timedelta(days=days):
        return end
    detail = f"It waited {days} days to be merged. {end.detail}"
    return replace(end, outcome=Outcome.MERGE_CONFLICT, detail=detail[:512])


def retried(bench: Bench, run: Run, base: str, tip: str) -> Settlement:
    """Validate a tip from its commits alone, and merge it. The run is in phase `integrating`.

    One that a person approved waits for that person again when it cannot be merged.
    """
    approved = reviews.decided(bench.state.connection, run.id)
    end = tried(bench, Validated(run, base, tip, scope(bench.context, bench.state, run), approved))
    return waits_again(bench, run.id, end) if approved else end


def tried(bench: Bench, work: Validated) -> Settlement:
    """Return what validating and merging comes to; the tip is kept whatever it is."""
    run = work.run
    with Reads(bench.context.agent.repo) as reads:
        verdict = judge_kept(reads, Kept(run.branch or "", work.base, work.tip), work.scope)
    findings = tuple(each.as_json() for each in verdict.findings)
    asks = verdict.outcome == "awaiting_review"
    asks = asks or bench.context.settings.text("merge") == "review"
    if verdict.outcome not in ("accept", "awaiting_review"):
        detail = "The kept tip no longer passes validation."
        kept = keep(bench, run.id, "review" if work.approved else "kept", work.tip)
        end = Settlement(Outcome.MERGE_CONFLICT, detail=detail, kept_ref=kept)
    elif asks and not work.approved:
        why = "; ".join(reasons(findings)) or BY_SETTING
        kept = keep(bench, run.id, "review", work.tip)
        end = Settlement(Outcome.AWAITING_REVIEW, detail=redact(why).text[:512], kept_ref=kept)
    else:
        end = surely(bench, work, lambda: integrate(bench, work))
    return replace(end, findings=findings, tip=work.tip)


def waits_again(bench: Bench, run_id: str, end: Settlement) -> Settlement:
    """Return how an approved run ends: merged, or waiting as before, with what was in the way."""
    if end.outcome is Outcome.MERGED:
        return end
    kept = keep(bench, run_id, "review", end.tip)
    detail = f"Approved, but it could not be merged: {end.detail}"[:512]
    again = replace(end, outcome=Outcome.AWAITING_REVIEW, reason=None, detail=detail)
    return replace(again, kept_ref=kept)
