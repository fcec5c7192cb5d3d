"""Messages that wait for extraction, worked off in order: one cheap call for each, or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from reflector.agent.engine import Usage
from reflector.core.backoff import FINAL_STRIKES, RETRYABLE_STRIKES
from reflector.core.decision import Origin
from reflector.core.errors import SettingsError, StateError
from reflector.core.failure import Failure, classify
from reflector.core.park import FailedRun
from reflector.core.redact import redact
from reflector.core.run import Outcome, Reason
from reflector.pipelines.decisions import calls
from reflector.pipelines.decisions.admission import Admitted, admit
from reflector.pipelines.decisions.envelope import Envelope, envelope, skipped
from reflector.pipelines.decisions.explicit import explicit
from reflector.pipelines.diary.not_recorded import not_recorded
from reflector.runtime.calls import allowance
from reflector.runtime.calls.allowance import Asked
from reflector.runtime.calls.asking import job_record, own_route
from reflector.runtime.calls.names import ASKS, GAVE_UP
from reflector.runtime.calls.waits import Waits
from reflector.runtime.decisions.names import PIPELINE
from reflector.runtime.wiring import Context
from reflector.store import decisions, journal, scheduling
from reflector.store.decisions import Job
from reflector.store.spoken import exchange
from reflector.store.state import State

if TYPE_CHECKING:  # the library costs a second to import
    from reflector.agent.forced import Ask
    from reflector.agent.wire import Wire

MOST_TOKENS = 2048
_SEEN = "decisions_seen"

AUTOMATIC = Asked(PIPELINE)

NO_MODEL = Waits("no_model")
"""The engine makes no small calls: jobs wait for one that does."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What was done. `held` says why messages still wait, None when none does."""

    extracted: int = 0
    skipped: int = 0
    deltas: int = 0
    failed: int = 0
    held: Waits | None = None


@dataclass(slots=True)
class _Work:
    """The queue of one identity, on its way to being empty."""

    context: Context
    state: State
    parked: Callable[[], None]
    asked: Asked
    done: Worked = field(default_factory=Worked)
    system: str = ""
    wire: Wire | None = None


def work_off(
    context: Context,
    state: State,
    stop: Callable[[], bool] = lambda: False,
    parked: Callable[[], None] = lambda: None,
    asked: Asked = AUTOMATIC,
) -> Worked:
    """Extract from every message that waits, in order, until one has to wait; `parked` is told.

    Deltas and the end of a job are one transaction, so whoever dies in between loses nothing and
    doubles nothing. For a person no back-off and no park holds, and a failure counts for nothing.
    """
    work = _Work(context, state, parked, asked)
    if context.settings.text("engine.name") not in ("rules", ASKS):
        return _passed_over(work, stop)
    try:
        while not stop() and (found := decisions.jobs(state.connection, limit=1)):
            if hold := _one(work, found[0]):  # one that failed keeps its place
                return replace(work.done, held=hold)
        return work.done
    finally:
        if work.wire is not None:
            work.wire.close()


def _passed_over(work: _Work, stop: Callable[[], bool]) -> Worked:
    """End the jobs for which no call would be made; the others wait for an engine that makes one."""
    connection = work.state.connection
    seen = int(scheduling.mark(connection, _SEEN) or 0)
    for job in decisions.jobs(connection):
        if job.id > seen and not stop():
            if isinstance(why := _envelope(work, job), str):
                _skip(work, job, why)
            with work.state.transaction():
                scheduling.set_mark(connection, _SEEN, str(job.id))
    left = decisions.jobs(connection, limit=1)
    return replace(work.done, held=NO_MODEL if left else None)


def _one(work: _Work, job: Job) -> Waits | None:
    """Deal with one job; return what it waits for, None when it is ended."""
    found = _envelope(work, job)
    if isinstance(found, str):
        _skip(work, job, found)
        return None
    if work.context.settings.text("engine.name") == "rules":
        _finish(work, job, admit(found.prompt, explicit(found)), "rules")
        return None
    return allowance.held(work.context, work.state, work.asked) or _asked(work, job, found)


def _skip(work: _Work, job: Job, why: str) -> None:
    with work.state.transaction() as connection:
        decisions.skip_job(connection, job, why, work.context.ambient.now())
    work.done = replace(work.done, skipped=work.done.skipped + 1)


def _envelope(work: _Work, job: Job) -> Envelope | str:
    """Return what the call would read, or why none is made."""
    known = journal.conversation(work.state.connection, job.conversation)
    messages = exchange(work.state.connection, job.conversation, job.message)
    if known is None or known.hidden or not messages:
        return "gone"
    if not_recorded(messages[-1].text):
        return "off_the_record"
    if any(message.role == "user" and not_recorded(message.text) for message in messages):
        messages = messages[-1:]  # nor is the answer to it
    spoken = any(message.role == "assistant" for message in messages)
    if why := skipped(messages[-1].text, after_assistant=spoken):
        return why
    return envelope(messages) or "empty"


def _finish(
    work: _Work, job: Job, admitted: Admitted, origin: Origin, usage: Usage | None = None
) -> None:
    context = work.context
    now = context.ambient.clock.now()
    with work.state.transaction() as connection:
        given = decisions.finish_job(
            connection, job, admitted.deltas, origin, context.ambient.now(), admitted.counts
        )
        if usage is not None:
            allowance.paid(connection, usage, now)
            allowance.succeeded(context, connection, PIPELINE)
    done = work.done
    more = len(given or ())
    work.done = replace(done, extracted=done.extracted + 1, deltas=done.deltas + more)


def _asked(work: _Work, job: Job, found: Envelope) -> Waits | None:
    from reflector.agent.forced import Forced, wire_for  # noqa: PLC0415 - costs a second to import
    from reflector.agent.wire import ProviderError  # noqa: PLC0415

    context = work.context
    record = job_record(context, f"{job.id}-{job.attempts + 1}")
    try:
        way = own_route(context)
    except SettingsError as error:  # as with a run: it parks, until the setting is another
        return _failed(work, job, Usage(), Reason.ENGINE_MISSING, error.message)
    work.wire = work.wire or wire_for(way, MOST_TOKENS, context.ambient)
    forced = Forced(_ask(work, job, found), way, context.ambient, record, work.wire)
    try:
        given = forced.ask()
    except ProviderError as error:
        return _failed(work, job, forced.usage, Reason(error.reason), error.message)
    listed = given.arguments.get("deltas")
    admitted = admit(found.prompt, listed if isinstance(listed, list) else [])
    if record is not None:
        record(replace(given.step, counts=_counts(admitted, cut=given.cut)))
    _finish(work, job, admitted, "model", forced.usage)
    return None


def _counts(admitted: Admitted, *, cut: bool) -> dict[str, int]:
    produced = {"deltas": len(admitted.deltas), **({"cut": 1} if cut else {})}
    return produced | {f"rejected.{why}": count for why, count in admitted.counts.items()}


def _ask(work: _Work, job: Job, found: Envelope) -> Ask:
    from reflector.agent.forced import Ask, Tool  # noqa: PLC0415 - as above
    from reflector.runtime.decisions.words import extraction_rules, message  # noqa: PLC0415

    work.system = work.system or extraction_rules()
    return Ask(
        step="decisions.extract",
        system=work.system,
        text=message(found),
        tool=Tool(calls.RECORD, calls.RECORD_SAYS, calls.RECORD_SCHEMA),
        effort="low",
        most_output_tokens=MOST_TOKENS,
        conversation=job.conversation,
    )


def _failed(work: _Work, job: Job, usage: Usage, reason: Reason, message: str) -> Waits | None:
    """Note a call that was not answered, and let the queue wait, all in one transaction."""
    context = work.context
    now = context.ambient.clock.now()
    detail = redact(message).text[:512]
    failure = classify(Outcome.FAILED, reason, detail)
    if failure is None:  # nobody interrupts a call
        raise StateError(f"The job {job.id} cannot fail of {reason}.")
    said = FailedRun(f"job {job.id}", frozenset({job.conversation}), reason.value, detail)
    gives_up = _gives_up(job, failure)
    with work.state.transaction() as connection:
        allowance.paid(connection, usage, now)
        decisions.fail_job(connection, job, f"{reason}: {detail}")
        parked = work.asked.automatic and allowance.failed(
            context, connection, PIPELINE, failure, said, now
        )
        if gives_up:
            why = f"{GAVE_UP}_{reason}"
            decisions.skip_job(connection, job, why, context.ambient.now())
    if parked:
        work.parked()
    work.done = replace(work.done, failed=work.done.failed + 1)
    if work.asked.automatic:
        return _until(work, now)
    return None if gives_up else Waits("failed")


def _gives_up(job: Job, failure: Failure) -> bool:
    """Tell whether a message is at fault, and was tried often enough: it holds the others up."""
    most = RETRYABLE_STRIKES if failure.retryable else FINAL_STRIKES
    return failure.scope == "content" and job.attempts + 1 >= most


def _until(work: _Work, now: datetime) -> Waits | None:
    waits = allowance.waiting(work.state.connection, PIPELINE).next_eligible_at
    return Waits("back_off", waits or now)
