"""Validated tips that waited for the memory to be free are merged without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from reflector.core.ambient import instant
from reflector.core.errors import BusyError
from reflector.core.run import Outcome, Run, Settlement
from reflector.core.sweep import RETENTION_DAYS
from reflector.runtime.bench import Bench, keep, settle
from reflector.runtime.integration import Validated, integrate, scope, surely
from reflector.runtime.judgement import Kept, judge_kept
from reflector.store import reservations
from reflector.vcs.reads import Reads


def bring_home(bench: Bench) -> Iterator[Run]:
    """Try again to merge the validated tips that waited for the memory to be free."""
    for run in reservations.kept(bench.state.connection):
        if bench.watch.stop():
            return
        if run.base is None or run.tip is None or run.branch is None:
            continue
        try:
            reservations.reopen(bench.state, run.id, bench.who)
        except BusyError:
            return  # an event has reserved a run meanwhile: what holds the slot goes first
        end = _given_up(bench, run, retried(bench, run, run.base, run.tip))
        before = run.settlement.usage if run.settlement else {}
        yield settle(bench, run, replace(end, usage=before), None)  # it was paid for once


def _given_up(bench: Bench, run: Run, end: Settlement) -> Settlement:
    """Let the rows of a tip that waited too long be read again; the tip goes with the next sweep."""
    age = bench.context.ambient.clock.now() - instant(run.reserved_at)
    days = RETENTION_DAYS["ref"]
    if end.outcome is not Outcome.PARENT_DIRTY or age < timedelta(days=days):
        return end
    detail = f"It waited {days} days to be merged. {end.detail}"
    return replace(end, outcome=Outcome.MERGE_CONFLICT, detail=detail[:512])


def retried(bench: Bench, run: Run, base: str, tip: str) -> Settlement:
    """Validate a tip from its commits alone, and merge it. The run is in phase `integrating`."""
    work = Validated(run, base, tip, scope(bench, run))
    with Reads(bench.context.agent.repo) as reads:
        verdict = judge_kept(reads, Kept(run.branch or "", base, tip), work.scope)
    findings = tuple(each.as_json() for each in verdict.findings)
    if verdict.outcome != "accept":
        detail = "The kept tip no longer passes validation."
        end = Settlement(Outcome.MERGE_CONFLICT, detail=detail, tip=tip)
        return replace(end, findings=findings, kept_ref=keep(bench, run.id, "kept", tip))
    end = surely(bench, work, lambda: integrate(bench, work))
    return replace(end, findings=findings)
