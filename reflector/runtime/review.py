"""A person decides on a run that waits: what it would change, approved, rejected."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from reflector.core.errors import BusyError, GitError, ParentDirtyError, ReflectorError
from reflector.core.redact import redact
from reflector.core.run import Outcome, Run
from reflector.memory.edit import Scope
from reflector.runtime import log, notice_file
from reflector.runtime.adoption import adopt
from reflector.runtime.bench import Bench, let_go, settle
from reflector.runtime.brought import brought_in_vain
from reflector.runtime.integration import Validated, scope
from reflector.runtime.judgement import Kept, judge_kept, judge_planned, reasons, together
from reflector.runtime.kept import drop, tried, waits_again
from reflector.runtime.loop import Quiet, bench_for
from reflector.runtime.recovery import recover
from reflector.runtime.reflect import pass_on
from reflector.runtime.settings import with_flags
from reflector.runtime.trouble import named, way_out
from reflector.runtime.waiting import BY_SETTING, Waits, waits
from reflector.runtime.wiring import Context
from reflector.store import reservations, reviews
from reflector.store.state import State
from reflector.vcs.reads import Reads
from reflector.vcs.whereabouts import trouble


class NotWaitingError(ReflectorError):
    """The run does not wait for a review."""

    code = "not_waiting"
    advice = "`reflector review list` shows what waits."


class ReviewError(ReflectorError):
    """What waits cannot be merged any more; it goes on waiting."""

    code = "not_mergeable"


@dataclass(frozen=True, slots=True)
class Prospect:
    """Whether a run that waits would be merged now, and what is in the way if not."""

    kind: Literal["merges", "gone", "invalid", "merge_conflict", "parent_dirty"]
    detail: str = ""
    paths: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the machine form."""
        return {"kind": self.kind, "detail": self.detail, "paths": list(self.paths)}


def asking(context: Context) -> Context:
    """Return the context of a command whose runs all wait for a person."""
    return replace(
        context, settings=with_flags(context.settings, {"merge": ("--review", "review")})
    )


def why(run: Run) -> tuple[str, ...]:
    """Return why a run waits for a person."""
    return reasons(run.settlement.findings if run.settlement else ()) or (BY_SETTING,)


@dataclass(frozen=True, slots=True)
class Listed:
    """A run that waits, as a person chooses among them."""

    waits: Waits
    subject: str
    why: tuple[str, ...]


def listed(context: Context) -> list[Listed]:
    """Return the runs that wait, the oldest first."""
    with context.state() as state:
        found = waits(state)
    if not found:
        return []
    with Reads(context.agent.repo) as reads:
        return [Listed(each, _subject(reads, each.run), why(each.run)) for each in found]


def _subject(reads: Reads, run: Run) -> str:
    if not run.tip or reads.resolve(run.tip) is None:
        return "(its commits are gone)"
    return reads.commit(run.tip).message.partition("\n")[0]


def waiting_run(state: State, run_id: str) -> Run:
    """Return the run of this id or beginning of an id. Raises NotWaitingError if it does not wait."""
    run = reservations.find(state.connection, run_id)
    _must_wait(state, run)
    return run


# What it would change


def prospect(context: Context, state: State, run: Run) -> Prospect:
    """Tell whether a run that waits would be merged now. Nothing is changed."""
    base, tip = run.base or "", run.tip or ""
    with Reads(context.agent.repo) as reads:
        if reads.resolve(base) is None or reads.resolve(tip) is None:
            return Prospect("gone", "Its commits are not in the repository any more.")
        may = scope(context, state, run)
        verdict = judge_kept(reads, Kept(run.branch or "", base, tip), may)
        if verdict.outcome not in ("accept", "awaiting_review"):
            errors = [each for each in verdict.findings if each.severity == "error"]
            said = together([f"{each.path}:{each.line} {each.message}" for each in errors])
            return Prospect(
                "invalid", said, tuple({each.path: None for each in errors if each.path})
            )
        head = reads.head()
        if in_the_way := trouble(head.branch, head.operation):
            return Prospect("parent_dirty", in_the_way)
        return _planned(reads, head.sha or "", base, tip, may)


def _planned(reads: Reads, ours: str, base: str, tip: str, may: Scope) -> Prospect:
    if not ours or not reads.is_ancestor(base, ours):
        return Prospect("merge_conflict", f"main was moved to before the run's base {base[:12]}.")
    plan = reads.plan_merge(ours, tip)
    if plan.tree is None:
        detail = "The same places were changed on both sides."
        return Prospect("merge_conflict", detail, plan.conflicts)
    refused = judge_planned(reads, ours, plan.tree, may) if ours != base else []
    if refused:
        return Prospect("merge_conflict", "; ".join(refused), plan.changed)
    occupied = reads.occupied(plan.changed)
    if occupied:
        return Prospect("parent_dirty", "Uncommitted changes are in the way.", occupied)
    return Prospect("merges", paths=plan.changed)


# Approved


def approve(context: Context, run_id: str) -> Run:
    """Validate a run that waits again, merge it like any other, and return it as settled.

    Every rule counts but those that only a person can let pass. Raises NotWaitingError, BusyError
    while a run is active, ParentDirtyError while a person's work is in the way, ReviewError when
    it cannot be merged any more: it goes on waiting then. An approval that broke off is finished.
    """
    with _owned(context, run_id) as bench:
        before = reservations.find(bench.state.connection, run_id)
        broken_off = reviews.decided(bench.state.connection, before.id)
        if not broken_off:
            _must_wait(bench.state, before)
        done = [each for each in recover(bench, before.slot) if each.id == before.id]
        if broken_off and done and done[0].outcome is Outcome.MERGED:
            run = done[0]
        else:
            run = _approve(bench, waiting_run(bench.state, before.id))
    return run


@contextmanager
def _owned(context: Context, run_id: str) -> Iterator[Bench]:
    """Hold the slot of a run, and see to what was asked for meanwhile: it relied on us."""
    with context.state() as state:
        run = reservations.find(state.connection, run_id)
        if not reviews.decided(state.connection, run.id):
            _must_wait(state, run)
    owned = False
    try:
        with bench_for(context, run.slot, Quiet()) as bench:
            if bench is None:
                raise BusyError(
                    "A run is active in this memory.",
                    hint="Approve again when it has ended; `reflector status` shows it.",
                )
            owned = True
            yield bench
    finally:
        if owned:
            with contextlib.suppress(ReflectorError):  # then the next event launches it
                pass_on(context)


def _approve(bench: Bench, run: Run) -> Run:
    with named(bench.context.home.path):
        adopt(bench.context)  # as before every merge: edits that have settled are in nobody's way
        found = prospect(bench.context, bench.state, run)
        if found.kind != "merges":
            raise _refusal(run, found)
        may = scope(bench.context, bench.state, run)
        reviews.take_up(bench.state, run.id, bench.who)
        end = tried(bench, Validated(run, run.base or "", run.tip or "", may, approved=True))
        paid = run.settlement.usage if run.settlement else {}
        settled = settle(bench, run, replace(waits_again(bench, run.id, end), usage=paid), None)
    match end.outcome:
        case Outcome.MERGED:
            return settled
        case Outcome.PARENT_DIRTY:
            raise _refusal(run, Prospect("parent_dirty", end.detail))
        case Outcome.FAILED:
            raise GitError(f"Run {run.id} could not be merged, and goes on waiting: {end.detail}")
        case _:
            raise _refusal(run, Prospect("merge_conflict", end.detail))


def _refusal(run: Run, found: Prospect) -> ReflectorError:
    """Return what keeps a run from being merged."""
    paths = ", ".join(found.paths)
    where = f" ({paths})" if paths else ""
    sentence = f"Run {run.id} cannot be merged: {found.detail}{where}"
    if found.kind == "parent_dirty":
        edits = "Commit or put away your changes in the memory, then approve it again."
        hint = way_out(found.detail, found.paths, edits)
        return ParentDirtyError(sentence, hint=hint, paths=paths, run=run.id)
    hint = (
        f"It goes on waiting. `reflector retry {run.id}` learns it anew on top of what is there now; "
        f"`reflector review reject {run.id}` drops it."
    )
    return ReviewError(sentence, hint=hint, why=found.kind, paths=paths, run=run.id)


# Rejected


def reject(context: Context, run_id: str, reason: str = "") -> Run:
    """Drop a run that waits; its lines are not written again without a person being asked.

    Its cursors stay moved. Raises NotWaitingError, BusyError when somebody decides right now. A
    rejection that broke off is finished.
    """
    said = redact(" ".join(reason.split())).text
    detail = f"Rejected by a person: {said}" if said else "Rejected by a person."
    with (
        named(context.home.path),
        log.opened(context.agent.log, identity=context.agent.identity) as logger,
        context.state() as state,
    ):
        run = reservations.find(state.connection, run_id)
        if run.outcome is Outcome.REJECTED and _still_held(context, run):
            reservations.name_kept(state, run.id, None)
            let_go(context, logger, run.id, None)
            return run
        _must_wait(state, run)
        lines = brought_in_vain(context, run.base or "", run.tip or "")
        drop(context, state, logger, run, detail, lines)
        notice_file.refresh(context)
        return reservations.find(state.connection, run.id)


def _still_held(context: Context, run: Run) -> bool:
    with Reads(context.agent.repo) as reads:
        return reads.resolve(f"{reviews.REFS}{run.id}") is not None


def _must_wait(state: State, run: Run) -> None:
    if run.outcome is Outcome.AWAITING_REVIEW:
        return
    if reviews.decided(state.connection, run.id):
        raise BusyError(
            f"Run {run.id} was approved and is being merged, or its approval broke off.",
            hint=f"`reflector review approve {run.id}` brings it to its end.",
        )
    end = run.settlement
    how = f"it is {run.phase.value}" if end is None else f"it ended as {end.outcome.value}"
    if end and end.merge_commit:
        how = f"it was merged by {end.merge_commit[:12]}"
    raise NotWaitingError(f"Run {run.id} does not wait for a review: {how}.", run=run.id)
