"""Validated tips that waited for the memory to be free are merged without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reflector.core.run import Outcome, Run, Settlement
from reflector.runtime.bench import Bench, settle
from reflector.runtime.integration import Validated, integrate
from reflector.runtime.judgement import Kept, judge_kept, scope_of
from reflector.runtime.payload import user_entries
from reflector.store import journal, reservations
from reflector.vcs.reads import Reads


def bring_home(bench: Bench) -> Iterator[Run]:
    """Try again to merge the validated tips that waited for the memory to be free."""
    for run in reservations.kept(bench.state.connection):
        if bench.watch.stop():
            return
        if run.base is None or run.tip is None or run.branch is None:
            continue
        reservations.reopen(bench.state, run.id, bench.who)
        yield settle(bench, run, _retried(bench, run, run.base, run.tip), None)


def _retried(bench: Bench, run: Run, base: str, tip: str) -> Settlement:
    user = [
        entry
        for taken in run.snapshots
        for entry in user_entries(journal.entries(bench.state.connection, taken))
    ]
    work = Validated(run, base, tip, scope_of(run.request.pipeline, tuple(user)))
    with Reads(bench.context.agent.repo) as reads:
        verdict = judge_kept(reads, Kept(run.branch or "", base, tip), work.scope)
    findings = tuple(each.as_json() for each in verdict.findings)
    if verdict.outcome != "accept":
        detail = "The kept tip no longer passes validation."
        return Settlement(Outcome.MERGE_CONFLICT, detail=detail, findings=findings, tip=tip)
    end = replace(integrate(bench, work), findings=findings)
    if end.outcome is Outcome.MERGED and run.settlement and run.settlement.kept_ref:
        bench.git.delete_ref(run.settlement.kept_ref, tip)
    return end
