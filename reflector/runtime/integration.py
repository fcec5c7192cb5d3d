"""A validated tip brought into main under the memory-write lock, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from reflector.core.errors import ReflectorError, RefMovedError
from reflector.core.run import Outcome, Phase, Reason, Run, Settlement
from reflector.memory.commit_message import GENERATED_BY
from reflector.memory.edit import Scope
from reflector.runtime.adoption import adopt_held
from reflector.runtime.bench import Bench, keep
from reflector.runtime.decisions import settling
from reflector.runtime.experiences.settling import withdrawn
from reflector.runtime.forgetting import intent
from reflector.runtime.judgement import judge_planned, scope_of, system_limit
from reflector.runtime.memory_lock import memory_write
from reflector.runtime.payload import user_entries
from reflector.runtime.trouble import named, settlement_of
from reflector.runtime.wiring import Context
from reflector.store import journal, reservations, unwanted
from reflector.store.state import State
from reflector.vcs import merge
from reflector.vcs.merge import Bring, Integrated, Integration, Refused
from reflector.vcs.reads import Reads

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Validated:
    """A run with a tip that validation accepted, or that a person approved."""

    run: Run
    base: str
    tip: str
    scope: Scope
    approved: bool = False


def integrate(bench: Bench, work: Validated) -> Settlement:
    """Merge a validated tip with two parents, or keep it and say why it could not be merged.

    The run is in phase `integrating` under this owner, and moves to `integrated` with the merge.
    """
    with memory_write(bench.context):
        # Look again under the lock: whoever reclaimed this run took the same lock first.
        token, now = bench.who.token, bench.context.ambient.now()
        phase = Phase.INTEGRATING
        reservations.note(bench.state, work.run.id, token, phase, heartbeat_at=now)
        adopt_held(bench.context, bench.git)
        done = _merged(bench, work)
        if isinstance(done, Refused):
            return _refused(bench, work, done)
        reservations.advance(
            bench.state, work.run.id, token, phase, Phase.INTEGRATED, merge_commit=done.sha
        )
        return Settlement(Outcome.MERGED, tip=work.tip, merge_commit=done.sha)


def scope(context: Context, state: State, run: Run) -> Scope:
    """Return what a run may rest on, from the journal alone: its folder may be gone."""
    read = [journal.entries(state.connection, taken) for taken in run.snapshots]
    user = tuple(entry for entries in read for entry in user_entries(entries))
    limit = system_limit(context.settings)
    asked, taken_back = run.request, unwanted.lines(state.connection)
    return scope_of(asked.pipeline, user, taken_back, limit, asked.target)


def landed(bench: Bench, run: Run, base: str, tip: str) -> str | None:
    """Tell from git by which commit a tip is in main; taking the lock lets files follow it first."""
    now = bench.context.ambient.clock.now()
    with memory_write(bench.context) as git:
        return merge.landed(git, Integration(Bring(base, tip), "", now, run.id, bench.who.token))


def surely(bench: Bench, work: Validated, step: Callable[[], Settlement]) -> Settlement:
    """Integrate, and if that breaks off let git tell whether it landed all the same.

    Raises what git itself raises then: nobody knows, and the run stays for the next supervisor.
    """
    try:
        return step()
    except (ReflectorError, OSError) as error:
        with named(bench.context.home.path):
            commit = landed(bench, work.run, work.base, work.tip)
            if commit is not None:
                return Settlement(Outcome.MERGED, tip=work.tip, merge_commit=commit)
            kept = keep(bench, work.run.id, "review" if work.approved else "backup", work.tip)
            end = settlement_of(error)
            reason = Reason.GIT_FAILED if end.reason is Reason.SPAWN_FAILED else end.reason
            return replace(end, reason=reason, tip=work.tip, kept_ref=kept)


def _merged(bench: Bench, work: Validated) -> Integrated | Refused:
    if said := intent.unfinished(bench.context.agent):
        return Refused("parent_dirty", said)  # the tip is kept, and merged once that is done
    job = job_of(bench, work)
    gone = settling.withdrawn(bench.state.connection, work.run)
    gone = gone or withdrawn(bench.state.connection, work.run)
    if gone and merge.landed(bench.git, job) is None:
        return Refused("merge_conflict", "What it rests on was cleared, moved or forgotten.")
    for _ in range(_TRIES):
        try:
            return merge.integrate(
                bench.git,
                job,
                save_merge=lambda sha: reservations.note(
                    bench.state,
                    work.run.id,
                    bench.who.token,
                    Phase.INTEGRATING,
                    merge_commit=sha,
                ),
                sleep=bench.context.ambient.clock.sleep,
                judge=lambda ours, tree: _judged(bench, ours, tree, work.scope),
            )
        except RefMovedError:
            continue  # a person committed at that very moment: plan again on top of it
    return Refused("parent_dirty", "main moves too often to merge into it right now.")


def _judged(bench: Bench, ours: str, tree: str, scope: Scope) -> list[str]:
    with Reads(bench.context.agent.repo) as reads:
        return judge_planned(reads, ours, tree, scope)


def _refused(bench: Bench, work: Validated, refused: Refused) -> Settlement:
    kept = keep(bench, work.run.id, "review" if work.approved else "kept", work.tip)
    outcome = Outcome(refused.kind)
    paths = f" ({', '.join(refused.paths)})" if refused.paths else ""
    return Settlement(outcome, detail=refused.detail + paths, tip=work.tip, kept_ref=kept)


def job_of(bench: Bench, work: Validated) -> Integration:
    """Return the change that brings a run home, the same in the first try and in a recovery."""
    return Integration(
        change=Bring(work.base, work.tip),
        message=_message(bench, work),
        when=bench.context.ambient.clock.now(),
        run_id=work.run.id,
        token=bench.who.token,
    )


def _message(bench: Bench, work: Validated) -> str:
    request = work.run.request
    with Reads(bench.context.agent.repo) as reads:
        subject = reads.commit(work.tip).message.partition("\n")[0]
    summary = subject.partition("): ")[2] or subject
    trailers = [
        f"Reflector-Run: {work.run.id}",
        f"Trigger: {request.trigger}",
        f"Engine: {request.engine}",
        *(
            f"Snapshot: {each.conversation} {each.first_entry}..{each.last_entry}"
            for each in work.run.snapshots
        ),
        ": ".join(GENERATED_BY),
        f"Agent-ID: {bench.context.agent.identity}",
    ]
    return f"merge({request.pipeline}): {summary}\n\n" + "\n".join(trailers) + "\n"
